"""What the streaming benchmarks have in common: the references of each repetition, and a product that is warm."""

from dataclasses import dataclass

from benchmarks import readers
from benchmarks.load import Load
from benchmarks.readers import Reading
from benchmarks.repeating import noise
from benchmarks.site import Site
from benchmarks.streams import stream

SLOTS = "512"
"""Runs that the one worker may advance at a time: as many as any load here has."""

WARM_UP = Load(runs=10, rate=25, seconds=2)


@dataclass(frozen=True)
class References:
    """The raw reader (R0) and the SDK loop (R1) on one load. ``late_ms``: of the model server meanwhile, at most."""

    raw: Reading
    sdk: Reading
    late_ms: float

    def noise_with(self, late_ms: float) -> str:
        """Why a repetition does not count in which the model server was late by this much under the product's load."""
        return noise(max(late_ms, self.late_ms), self.raw.delays.p95)


def compared(site: Site, load: Load) -> References:
    """Read the load with both references, one after the other, while the product is idle."""
    site.reset_model()
    raw, sdk = (readers.read(kind, load, site.stack.model_url) for kind in (readers.RAW, readers.SDK))
    return References(raw, sdk, site.model_stats()["late_max_ms"])


def warm_up(site: Site) -> None:
    """What a process does once only, such as imports, is over behind this."""
    stream(site, WARM_UP, watched=True)
