/* emlearn's mixture, as its own generated code calls it. */
#include <eml_mixture.h>

int32_t
bench_emlearn(int32_t components, int32_t features, const float *means, const float *precisions,
              const float *log_dets, const float *log_weights, const float *x,
              float *log_probabilities, float *score, float *responsibilities)
{
    EmlMixtureModel model = {
        components, features, EmlCovarianceFull, means, precisions, log_dets, log_weights,
    };
    return eml_mixture_predict_proba(&model, x, features, log_probabilities, score,
                                     responsibilities);
}
