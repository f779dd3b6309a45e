"""Writes small random checkpoints of many configurations, and what transformers and peft compute with them.

    python make_models.py DIR [FILTER]

Each folder of DIR has the files that `conformance models --models DIR` reads: config.json, weights, and
expected.safetensors with logits, loss, all gradients, losses of training, text and LoRA. Needs torch,
transformers, peft and safetensors.
"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, BertForMaskedLM, CONFIG_MAPPING, ViTForImageClassification

from model_cases import CASES, VOCABULARY

B, S, PROMPT, LENGTH = 2, 14, 8, 28


def build(case):
    config = CONFIG_MAPPING[case.model_type](**case.options)
    config._attn_implementation = "eager"
    if case.model_type == "bert":
        model = BertForMaskedLM(config)
    elif case.model_type == "vit":
        model = ViTForImageClassification(config)
    else:
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn_like(p)
            p.copy_(p + 0.2 * noise if p.dim() == 1 else 0.25 * noise)
    return model.eval(), config


def inputs_of(case, model):
    if case.model_type == "vit":
        c = model.config
        return {
            "pixel_values": torch.randn(3, c.num_channels, c.image_size, c.image_size),
            "labels": torch.tensor([0, 1, 1]),
        }
    ids = torch.randint(3, VOCABULARY, (B, S))
    mask = torch.ones(B, S, dtype=torch.long)
    mask[1, S - 4 :] = 0
    labels = torch.where(mask == 1, ids, -100)
    if case.model_type == "bert":
        labels = torch.where(torch.rand(B, S) < 0.4, torch.randint(3, VOCABULARY, (B, S)), -100)
        labels[0, 1] = 5
        labels = torch.where(mask == 1, labels, -100)
    else:
        labels[0, 3] = -100
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    if case.model_type == "bert":
        given["token_type_ids"] = torch.randint(0, model.config.type_vocab_size, (B, S))
    return given


def losses_of(model, given, parameters, rate, decay, clip):
    optimizer = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=decay)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = model(**given).loss
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def fresh(case, state):
    model, _ = build(case)
    model.load_state_dict(state)
    return model


def written_config(case, folder):
    file = folder / "config.json"
    config = json.loads(file.read_text())
    if case.old:
        parameters = dict(config.pop("rope_parameters", {}) or {})
        config["torch_dtype"] = config.pop("dtype", "float32")
        if parameters:
            config["rope_theta"] = parameters.pop("rope_theta")
            kind = parameters.pop("rope_type")
            config["rope_scaling"] = None if kind == "default" else {"type": kind, **parameters}
    for name, value in case.written.items():
        if value is None:
            config.pop(name, None)
        else:
            config[name] = value
    file.write_text(json.dumps(config, indent=2, sort_keys=True))


def written_weights(case, folder):
    file = folder / "model.safetensors"
    if not (case.base or case.gamma or case.extra):
        return
    tensors = load_file(file)
    renamed = {}
    for name, tensor in tensors.items():
        own = name.removeprefix(case.base)
        if case.gamma and "LayerNorm" in own:
            own = own.replace(".weight", ".gamma").replace(".bias", ".beta")
        renamed[own] = tensor.contiguous()
    for name, shape in case.extra.items():
        renamed[name] = torch.rand(shape)
    save_file(renamed, file, metadata={"format": "pt"})


def greedy_of(model, prompt):
    text = prompt
    with torch.no_grad():
        while text.shape[1] < LENGTH:
            text = torch.cat(
                [text, model(input_ids=text, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)], 1
            )
    return text


def lora_of(case, state, given, folder):
    """The losses of an adapter's training, and the logits with the trained adapter."""
    targets = {"gpt2": ["c_attn"], "phi3": ["qkv_proj"]}.get(case.model_type, ["q_proj", "v_proj"])
    config = LoraConfig(
        r=4,
        lora_alpha=8,
        target_modules=targets,
        task_type="CAUSAL_LM",
        fan_in_fan_out=case.model_type == "gpt2",
    )
    model = get_peft_model(fresh(case, state), config)
    model.save_pretrained(folder / "lora-start")
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = losses_of(model, given, parameters, 5e-3, 0.0, False)
    model.save_pretrained(folder / "lora-end")
    with torch.no_grad():
        logits = model(**given).logits
    return losses, logits


def write(case, root):
    torch.manual_seed(sum(map(ord, case.name)))
    folder = root / case.name
    folder.mkdir(parents=True, exist_ok=True)
    model, config = build(case)
    given = inputs_of(case, model)
    state = {name: t.clone() for name, t in model.state_dict().items()}
    size = sum(t.numel() * t.element_size() for t in state.values())
    model.save_pretrained(folder, max_shard_size=size // case.shards + 1 if case.shards > 1 else "1GB")
    written_config(case, folder)
    written_weights(case, folder)
    output = model(**given)
    output.loss.backward()
    expected = {**given, "logits": output.logits, "loss": output.loss.reshape(1)}
    for name, p in model.named_parameters():
        if p.grad is not None:
            expected[f"grad.{name}"] = p.grad
    other = fresh(case, state)
    expected["adamw_losses"] = losses_of(other, given, list(other.parameters()), 1e-3, 0.01, True)
    if case.model_type not in ("bert", "vit"):
        prompt = torch.randint(3, VOCABULARY, (1, PROMPT))
        expected["prompt"], expected["greedy"] = prompt, greedy_of(fresh(case, state), prompt)
        expected["lora_losses"], expected["lora_logits"] = lora_of(case, state, given, folder)
    tensors = {name: t.detach().clone().contiguous() for name, t in expected.items()}
    save_file(tensors, folder / "expected.safetensors")


def main():
    root, pattern = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    torch.set_num_threads(1)
    for case in CASES:
        if pattern not in case.name:
            continue
        try:
            write(case, root)
            print("wrote", case.name)
        except Exception as error:  # A configuration that the library refuses is no case.
            print("REFUSED", case.name, type(error).__name__, str(error)[:300])


main()
