"""`agentbench load` and the suites of load on a server of someone else: `transformers serve`.

    python benchmarks/third_party_server.py PYTHON [SECONDS of each load]

PYTHON has torch (a CPU build will do) and transformers[serving]. A tiny model is made in code and
served on 127.0.0.1: nothing is downloaded. Python's http.client sends the same in turns with ours.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

PROMPT = "How long does the first token take, and how evenly do the others follow?"
TOKENS, TURNS, REQUESTS = 16, 5, 20
COMPARED = ("ttft_ms", "e2e_ms", "tpot_ms", "output_tokens", "input_tokens")
HEADLESS = ("--no-ui", "--quiet", "--db=:memory:", "--format=json")
QUIET = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
SERVER = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
LOADS = {
    "streamed": ("chat",),
    "in one piece": ("chat", "--no-stream"),
    "2 a second": ("chat", "--rate=2"),
    "conversations": ("chat", "--concurrency=2", "--turns=3"),
    "broken off after 5 tokens": ("chat", "--cancel-after=5"),
    "responses API": ("responses",),
    "responses API, in one piece": ("responses", "--no-stream"),
}
GENTLE = ("rate=4", "peak=12", "long_tokens=1024", f"output_tokens={TOKENS}")


def main(python: str, seconds: str = "4") -> None:
    with tempfile.TemporaryDirectory() as model, serving(python, model) as port:
        print(f"the first request, which loads the model: {next(ask(port, model, 1))[1]:,.0f} ms")
        place = f":http://127.0.0.1:{port}/v1#{model}"
        compare(port, model, f"openai{place}")
        asked = (f"--duration={seconds}s", f"--output-tokens={TOKENS}")
        for name, (api, *options) in LOADS.items():
            show(name, agentbench("load", f"openai?api={api}{place}", *options, *asked))
        for suite, known in ("serving", GENTLE), ("streaming", (GENTLE[0], GENTLE[3], "users=2")):
            given = [f"--set={setting}" for setting in (f"duration_s={seconds}", *known)]
            for one in agentbench("run", suite, "--agent", f"openai{place}", *given)["executions"]:
                point = [str(value) for value in one["parameters"].values()]
                show(" ".join([suite, one["benchmark_id"], *point]), one["load"])


def build(folder: str) -> None:
    """Save a model with random weights that never ends by itself, and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    written = Tokenizer(models.BPE())
    written.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    written.decoder = decoders.ByteLevel()
    known = {"special_tokens": ["<s>"], "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    written.train([__file__], trainers.BpeTrainer(vocab_size=400, **known))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=written, bos_token="<s>", pad_token="<s>")
    turns = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    tokenizer.chat_template = f"<s>{turns}assistant: "
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    shape = {"vocab_size": len(tokenizer), "hidden_size": 64, "intermediate_size": 128}
    shape |= {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 16384}
    LlamaForCausalLM(LlamaConfig(eos_token_id=None, **shape)).save_pretrained(folder)


@contextmanager
def serving(python: str, model: str) -> Iterator[int]:
    """The server, from when it listens until the end of the block; its port."""
    how: Any = {"env": os.environ | SERVER} | QUIET
    if subprocess.run([python, __file__, "--build", model], check=False, **how).returncode:
        sys.exit(f"no model can be built with {python}: has it torch and transformers[serving]?")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    serve = [python, "-m", "transformers.cli.transformers", "serve", "--port", str(port)]
    process = subprocess.Popen(serve, **how)
    try:
        for _ in range(600):
            time.sleep(0.1)
            with socket.socket() as probe:
                if process.poll() is not None or not probe.connect_ex(("127.0.0.1", port)):
                    break
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def ask(port: int, model: str, count: int) -> Iterator[tuple[float, ...]]:
    """Streamed questions by the standard library, on one connection: `COMPARED` of each."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    question = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": TOKENS}
    body, kind = json.dumps({"model": model, "stream": True, **question}), "application/json"
    for _ in range(count):
        began, first, usage = time.perf_counter(), 0.0, dict[str, int]()
        connection.request("POST", "/v1/chat/completions", body, {"content-type": kind})
        for line in connection.getresponse():
            now = time.perf_counter()
            if line.startswith(b"data: {"):
                event = json.loads(line[6:])
                usage = event.get("usage") or usage
                first = first or now * bool(event["choices"][0]["delta"].get("content"))
        ttft_ms, e2e_ms = 1e3 * (first - began), 1e3 * (time.perf_counter() - began)
        tokens = usage["completion_tokens"]
        yield ttft_ms, e2e_ms, (e2e_ms - ttft_ms) / (tokens - 1), tokens, usage["prompt_tokens"]


def agentbench(*given: str) -> Any:
    """The JSON document of a command, headless, stored in memory."""
    command = [sys.executable, "-m", "agentbench_tui", *given, *HEADLESS]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)


def compare(port: int, model: str, target: str) -> None:
    """Medians of the turns' medians, in turns so that whatever drifts hits both alike."""
    asked = (f"--requests={REQUESTS}", f"--output-tokens={TOKENS}", "--prompt", PROMPT)
    turns = []
    for _ in range(TURNS):
        theirs = [median(values) for values in zip(*ask(port, model, REQUESTS), strict=True)]
        found = agentbench("load", target, *asked)["metrics"]
        turns.append([(found[name]["p50"], theirs.pop(0)) for name in COMPARED])
    print(f"{TURNS} turns of {REQUESTS} requests in sequence: agentbench, http.client, ratio")
    for name, pairs in zip(COMPARED, zip(*turns, strict=True), strict=True):
        own, other = (median(values) for values in zip(*pairs, strict=True))
        print(f"  {name:14}{own:9.3f}{other:9.3f}{own / other:7.3f}")


def show(name: str, load: dict[str, Any]) -> None:
    """A line of counts, means, and the verdict."""
    requests = load["requests"]
    ends = {"answered": requests["ok"], "broken off": requests["cancelled"], **requests["failed"]}
    words = [f"{name:30}{requests['sent']:4} sent", *(f"{n} {how}" for how, n in ends.items() if n)]
    means = [(metric, load["metrics"][metric]["mean"]) for metric in COMPARED[:4]]
    words += [f"{metric} {mean:,.1f}" for metric, mean in means if mean is not None]
    words += ["tokens by chunks"] * load["tokens_estimated"] + [load["verdict"]]
    print(" · ".join([*words, f"{requests['connections']} connections"]))


if __name__ == "__main__":
    build(sys.argv[2]) if sys.argv[1] == "--build" else main(*sys.argv[1:])
