"""Writes gpt2/: a small GPT-2 as Hugging Face's transformers saves it, and what it answers.

    pip install torch transformers safetensors
    python gpt2.py
"""

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=61, n_positions=24, n_embd=24, n_layer=2, n_head=3, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    for parameter in model.parameters():  # biases and normalisations that are not 0 and 1, weights large enough to matter
        parameter.add_(0.2 * torch.randn_like(parameter))
model.save_pretrained("gpt2")

ids = torch.randint(0, config.vocab_size, (2, 11))
logits = model(ids).logits
loss = model(ids, labels=ids).loss  # it shifts the labels itself
loss.backward()
continued = model.generate(ids[:1, :5], max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None)
save_file(
    {
        "ids": ids,
        "logits": logits.detach(),
        "loss": loss.detach().reshape(1),
        "continued": continued,
        "grad.wte.weight": model.transformer.wte.weight.grad,
        "grad.h.1.attn.c_attn.weight": model.transformer.h[1].attn.c_attn.weight.grad,
    },
    "gpt2/answers.safetensors",
)
