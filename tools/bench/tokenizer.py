"""The peers of the tokenizer group. Called as: python - WHAT FILE ARGS...; prints one JSON object."""
import array
import base64
import hashlib
import json
import os
import sys
import time


def peak():
    """The most bytes that this process has held, or 0 where the system does not tell."""
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0


def train(path, merges):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + int(merges), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    start = time.perf_counter()
    tok.train([path], trainer)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak": peak(), "tokens": sorted(tok.get_vocab())}


def loop(path, merges):
    """minbpe's BasicTokenizer: itself if LECTERN_MINBPE names its folder, else the same loop written again."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    folder = os.environ.get("LECTERN_MINBPE")
    if folder:
        sys.path.insert(0, folder)
        from minbpe import BasicTokenizer
        tok = BasicTokenizer()
        start = time.perf_counter()
        tok.train(text, 256 + int(merges))
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "peak": peak(), "merges": [[a, b, i] for (a, b), i in tok.merges.items()]}
    start = time.perf_counter()
    ids = list(text.encode("utf-8"))
    learned = []
    for new in range(256, 256 + int(merges)):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=counts.get)
        out = []
        i = 0
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == best[0] and ids[i + 1] == best[1]:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        learned.append([best[0], best[1], new])
    return {"seconds": time.perf_counter() - start, "peak": peak(), "merges": learned}


def encode(path, ranks, about):
    import tiktoken
    with open(about) as f:
        about = json.load(f)
    table = {}
    with open(ranks) as f:
        for line in f:
            token, rank = line.split()
            table[base64.b64decode(token)] = int(rank)
    enc = tiktoken.Encoding("bench", pat_str=about["pat_str"], mergeable_ranks=table, special_tokens=about["special_tokens"])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    enc.encode_ordinary(text[:100000])
    start = time.perf_counter()
    ids = enc.encode_ordinary(text)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak": peak(), "sum": hashlib.sha256(array.array("i", ids).tobytes()).hexdigest()}


print(json.dumps({"train": train, "loop": loop, "encode": encode}[sys.argv[1]](*sys.argv[2:])))
