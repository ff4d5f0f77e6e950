//! Where a board's model comes from: plain slots that a probe writes, or a store of signed models.

use embedded_storage::nor_flash::NorFlash;
use rebearing::model::format::CRC_OFFSET;
use rebearing::model::{AnyModel, Body, ModelError};
use rebearing::operation::DriftWatch;
use rebearing::operation::alarm::KeptAlarm;
use rebearing::update::{
    self, FloorCounter, ModelStore, NoReceiver, Outcome, Receiver, Slot, Standing, UpdateStatus,
    Verifier,
};

use super::{BoardFinding, Journal, kept};

/// The source of a board's model.
pub trait Models {
    /// The part that takes a new model.
    type Receiver: Receiver;

    /// The model to run, and its slot. Tells the journal what was passed over, and why there is none.
    fn choose<B: Body<'static>>(
        &mut self,
        region: &'static [u8],
        accept: impl FnMut(AnyModel<'static, B>) -> Result<AnyModel<'static, B>, ModelError>,
        journal: &mut impl Journal,
    ) -> Option<(Slot, AnyModel<'static, B>)>;

    /// Takes a finding of the model. Returns how its trial ended, if it did.
    fn observe<B: Body<'static>>(
        &mut self,
        finding: &BoardFinding<B>,
        watch: Option<&DriftWatch<'_>>,
    ) -> Option<Outcome>;

    /// The alarm that was kept over the restart. If another model runs now, its classes may be
    /// others, so the alarm has lost its class.
    fn kept_alarm(&self) -> KeptAlarm;

    /// Keeps the alarm over a restart.
    fn keep_alarm(&mut self, alarm: KeptAlarm);

    /// The part that takes a new model.
    fn receiver(&mut self) -> &mut Self::Receiver;
}

/// Models that a probe writes: the newest of two slots, without a signature. A new model does not
/// come over the bus. An alarm outlasts a reset, but not a loss of power.
#[derive(Debug, Default)]
pub struct Plain {
    receiver: NoReceiver,
    /// Checksum of the model in use.
    checksum: u32,
}

impl Models for Plain {
    type Receiver = NoReceiver;

    fn choose<B: Body<'static>>(
        &mut self,
        region: &'static [u8],
        accept: impl FnMut(AnyModel<'static, B>) -> Result<AnyModel<'static, B>, ModelError>,
        journal: &mut impl Journal,
    ) -> Option<(Slot, AnyModel<'static, B>)> {
        match update::newest(region, accept) {
            Ok(newest) => {
                if let Some(reason) = &newest.passed_over {
                    journal.passed_over(reason);
                }
                let standing = Standing::Confirmed;
                self.receiver.status = UpdateStatus { standing, ..UpdateStatus::default() };
                self.checksum = checksum(&newest.model);
                Some((newest.slot, newest.model))
            }
            Err(reason) => {
                journal.no_model(&reason);
                None
            }
        }
    }

    fn observe<B: Body<'static>>(
        &mut self,
        _: &BoardFinding<B>,
        _: Option<&DriftWatch<'_>>,
    ) -> Option<Outcome> {
        None
    }

    fn kept_alarm(&self) -> KeptAlarm {
        let (checksum, word) = kept::read();
        let alarm = KeptAlarm::from_word(word).unwrap_or_default();
        if checksum == self.checksum { alarm } else { alarm.unnamed() }
    }

    fn keep_alarm(&mut self, alarm: KeptAlarm) {
        kept::write(self.checksum, alarm.to_word());
    }

    fn receiver(&mut self) -> &mut NoReceiver {
        &mut self.receiver
    }
}

/// The checksum in the header of a model.
fn checksum<B>(model: &AnyModel<'static, B>) -> u32 {
    let stored = model.bytes().get(CRC_OFFSET..).and_then(<[u8]>::first_chunk);
    stored.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl<F: NorFlash, V: Verifier, C: FloorCounter> Models for ModelStore<F, V, C> {
    type Receiver = Self;

    fn choose<B: Body<'static>>(
        &mut self,
        region: &'static [u8],
        accept: impl FnMut(AnyModel<'static, B>) -> Result<AnyModel<'static, B>, ModelError>,
        journal: &mut impl Journal,
    ) -> Option<(Slot, AnyModel<'static, B>)> {
        match self.start(region, accept) {
            Ok(started) => {
                journal.standing(started.standing, started.ended);
                Some((started.slot, started.model))
            }
            Err(reason) => {
                journal.no_model(&reason);
                None
            }
        }
    }

    fn observe<B: Body<'static>>(
        &mut self,
        finding: &BoardFinding<B>,
        watch: Option<&DriftWatch<'_>>,
    ) -> Option<Outcome> {
        ModelStore::observe(self, finding, watch)
    }

    fn kept_alarm(&self) -> KeptAlarm {
        let alarm = KeptAlarm::from_word(ModelStore::kept_alarm(self)).unwrap_or_default();
        let status = self.status();
        let same = status.standing == Standing::Confirmed && status.outcome.is_confirmed();
        if same { alarm } else { alarm.unnamed() }
    }

    fn keep_alarm(&mut self, alarm: KeptAlarm) {
        // Only what a person has to know wears the flash: that there is an alarm, and whether it was
        // acknowledged. One that comes and goes, or changes its name, does not.
        let kept = KeptAlarm::from_word(ModelStore::kept_alarm(self)).unwrap_or_default();
        let acknowledged = |alarm: KeptAlarm| alarm.raised().map(|raised| raised.acknowledged);
        if acknowledged(kept) != acknowledged(alarm) {
            // A flash that cannot be written is told by the next update. The alarm itself stands.
            let _ = ModelStore::keep_alarm(self, alarm.to_word());
        }
    }

    fn receiver(&mut self) -> &mut Self {
        self
    }
}
