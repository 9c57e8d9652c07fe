//! What a second process sees of the home: the store's own reader on the disk in memory, and who holds the lock.

use std::cell::RefCell;
use std::rc::Rc;

use trellis::driver::ports::Loaded;
use trellis::driver::viewer::Shelf;
use trellis::model::event::Event;
use trellis::paths::Home;
use trellis::projection::DriverFact;
use trellis::store::reader::Reader;
use trellis::store::sim_files::SimFiles;

use super::disk::HOME;
use super::world::World;

/// The disk as a viewer needs it.
pub struct Window {
    world: Rc<RefCell<World>>,
    reader: Reader<SimFiles>,
}

impl Window {
    pub fn open(world: Rc<RefCell<World>>, files: &SimFiles) -> Self {
        Self { world, reader: Reader::with_files(Home::at(HOME), files.clone()) }
    }
}

impl Shelf for Window {
    fn read(&mut self) -> Option<Loaded> {
        Shelf::read(&mut self.reader)
    }

    fn events(&mut self) -> Vec<Event> {
        Shelf::events(&mut self.reader)
    }

    fn driver(&mut self) -> DriverFact {
        if self.world.borrow().dead {
            DriverFact::Nobody
        } else {
            DriverFact::Elsewhere { pid: Some(1), background: false }
        }
    }
}
