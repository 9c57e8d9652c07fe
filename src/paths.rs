//! Where things are: the home, the agents' roots. The only reader of the environment.
