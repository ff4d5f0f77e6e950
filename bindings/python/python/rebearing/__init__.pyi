from ._adapter import GuardedAdapter as GuardedAdapter
from ._classifiers import GMMOTDAClassifier as GMMOTDAClassifier
from ._classifiers import TransferClassifier as TransferClassifier
from ._classifiers import transfer as transfer
from ._features import SpectralFeatures as SpectralFeatures
from ._library import Library as Library
from ._mixture import GaussianMixture as GaussianMixture
from ._monitor import Finding as Finding
from ._monitor import Monitor as Monitor
from ._rebearing import RebearingError as RebearingError
from ._transport import T_mean as T_mean
from ._transport import T_rand as T_rand
from ._transport import T_weight as T_weight
from ._transport import mixture_plan as mixture_plan
from ._transport import plan as plan

__version__: str
