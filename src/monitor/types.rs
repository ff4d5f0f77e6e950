//! Names for the numbers in a monitor's type.

/// The type of a monitor, with a name for each number. `rebearing inspect` prints it for a model.
///
/// ```
/// // An f32 model; `samples` is f32, or i16 for the sensor's counts.
/// type Pump<'m> = rebearing::monitor!(
///     'm, model: f32, samples: f32, fft: 2048, axes: 1, features: 32, components: 14, classes: 7
/// );
/// // An i16 model takes counts.
/// type Fan<'m> = rebearing::monitor!(
///     'm, model: i16, fft: 1024, axes: 3, features: 96, components: 8, classes: 4
/// );
/// # fn same(pump: Pump<'static>) -> rebearing::Monitor<'static, f32, 2048, 1, 32, 14, 7> { pump }
/// # fn alike(fan: Fan<'static>) -> rebearing::IntegerMonitor<'static, 1024, 3, 96, 8, 4> { fan }
/// ```
#[macro_export]
macro_rules! monitor {
    (
        $model:lifetime, model: f32, samples: $samples:ty, fft: $fft:literal, axes: $axes:literal,
        features: $features:literal, components: $components:literal, classes: $classes:literal
        $(,)?
    ) => {
        $crate::Monitor<$model, $samples, $fft, $axes, $features, $components, $classes>
    };
    (
        $model:lifetime, model: i16, fft: $fft:literal, axes: $axes:literal,
        features: $features:literal, components: $components:literal, classes: $classes:literal
        $(,)?
    ) => {
        $crate::IntegerMonitor<$model, $fft, $axes, $features, $components, $classes>
    };
}
