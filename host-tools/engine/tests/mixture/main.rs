//! Fitted mixtures: against scikit-learn, against a naive step, and on hostile data.

mod golden;
mod hostile;
mod oracle;
