//! The pictures of docs/.

mod pictures;
