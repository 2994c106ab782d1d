"""Property tests here are about what comes out; the time of one example says only how busy the machine is."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
