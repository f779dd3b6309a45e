"""Writes small random checkpoints of many configurations, and what transformers and peft compute with them.

    python make_models.py DIR [FILTER]

Each folder of DIR has the files that `conformance models --models DIR` reads: config.json, weights, and
expected.safetensors with logits, loss, all gradients, losses of training, text and LoRA. Needs torch,
transformers, peft and safetensors.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, BertForMaskedLM, CONFIG_MAPPING, ViTForImageClassification

B, S, PROMPT, LENGTH = 2, 14, 8, 28
VOCABULARY = 61


@dataclass
class Case:
    """A configuration, and what its files are to look like."""

    name: str
    model_type: str
    options: dict = field(default_factory=dict)
    # Names of the older generation of config.json: rope_theta and rope_scaling, torch_dtype.
    old: bool = False
    # Fields of config.json that are written as given; None leaves a field out.
    written: dict = field(default_factory=dict)
    shards: int = 1
    # What the names of weights leave out, such as 'transformer.'.
    base: str = ""
    # LayerNorm weights are named gamma and beta.
    gamma: bool = False
    # Tensors that published files have and no model reads.
    extra: dict = field(default_factory=dict)
    train: bool = True


def llama(**options):
    sizes = dict(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=VOCABULARY,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    return {**sizes, **options}


def rope(kind, theta=10000.0, **parameters):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **parameters}}


LLAMA3 = rope(
    "llama3",
    500000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=16,
)
YARN = rope("yarn", factor=4.0, original_max_position_embeddings=16)
GEMMA = dict(head_dim=16, query_pre_attn_scalar=24, sliding_window=5)
ALTERNATE = ["sliding_attention", "full_attention", "sliding_attention"]
GPT2 = dict(
    n_embd=32,
    n_layer=2,
    n_head=4,
    vocab_size=VOCABULARY,
    n_positions=64,
    bos_token_id=1,
    eos_token_id=2,
    resid_pdrop=0.0,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
)
BERT = dict(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    vocab_size=VOCABULARY,
    max_position_embeddings=32,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
VIT = dict(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    image_size=16,
    patch_size=4,
    num_channels=3,
)
LONG = [1.0 + 0.5 * n for n in range(4)]
SHORT = [1.0 + 0.1 * n for n in range(4)]

CASES = [
    Case("llama-new", "llama", llama()),
    Case(
        "llama-old", "llama", llama(), old=True, extra={"model.layers.0.self_attn.rotary_emb.inv_freq": (4,)}
    ),
    Case("llama-tied", "llama", llama(tie_word_embeddings=True)),
    Case("llama-bias", "llama", llama(attention_bias=True, mlp_bias=True)),
    Case("llama-head-dim", "llama", llama(head_dim=12)),
    Case("llama-heads", "llama", llama(num_key_value_heads=4)),
    Case("llama-no-kv-heads", "llama", llama(num_key_value_heads=4), written={"num_key_value_heads": None}),
    Case("llama-act", "llama", llama(hidden_act="gelu")),
    Case("llama-relu2", "llama", llama(hidden_act="relu2")),
    Case("llama-shards", "llama", llama(), shards=3),
    Case("llama-base", "llama", llama(tie_word_embeddings=True), base="model."),
    Case("llama3", "llama", llama(**LLAMA3)),
    Case("llama3-old", "llama", llama(**LLAMA3), old=True),
    Case("llama-linear", "llama", llama(**rope("linear", factor=4.0))),
    Case("llama-linear-old", "llama", llama(**rope("linear", factor=4.0)), old=True),
    Case(
        "llama-dynamic",
        "llama",
        llama(**rope("dynamic", factor=2.0), max_position_embeddings=12),
        train=False,
    ),
    Case(
        "llama-dynamic-old",
        "llama",
        llama(**rope("dynamic", factor=2.0), max_position_embeddings=10),
        old=True,
    ),
    Case("llama-dynamic-short", "llama", llama(**rope("dynamic", factor=2.0))),
    Case("llama-yarn", "llama", llama(**YARN)),
    Case("llama-yarn-old", "llama", llama(**YARN), old=True),
    Case(
        "llama-yarn-factors",
        "llama",
        llama(
            **rope(
                "yarn",
                factor=4.0,
                original_max_position_embeddings=16,
                beta_fast=16.0,
                beta_slow=2.0,
                attention_factor=1.3,
            )
        ),
    ),
    Case(
        "llama-yarn-mscale",
        "llama",
        llama(
            **rope("yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.7, mscale_all_dim=1.3)
        ),
    ),
    Case(
        "llama-yarn-truncate",
        "llama",
        llama(**rope("yarn", factor=4.0, original_max_position_embeddings=16, truncate=False)),
    ),
    Case("llama-yarn-no-original", "llama", llama(**rope("yarn", factor=4.0))),
    Case("llama-theta", "llama", llama(**rope("default", 100.0))),
    Case("llama-theta-old", "llama", llama(**rope("default", 100.0)), old=True),
    Case(
        "llama-longrope",
        "llama",
        llama(
            **rope(
                "longrope",
                short_factor=SHORT,
                long_factor=LONG,
                factor=4.0,
                original_max_position_embeddings=16,
            )
        ),
    ),
    Case(
        "smollm2",
        "llama",
        llama(
            num_key_value_heads=1,
            num_attention_heads=3,
            hidden_size=36,
            tie_word_embeddings=True,
            **rope("default", 100000.0),
        ),
        old=True,
        written={"is_llama_config": True, "rope_interleaved": False, "pretraining_tp": 1},
    ),
    Case("mistral", "mistral", llama(sliding_window=5)),
    Case("mistral-old", "mistral", llama(sliding_window=5), old=True),
    Case("mistral-no-window", "mistral", llama(sliding_window=None)),
    Case("mistral-head-dim", "mistral", llama(sliding_window=30, head_dim=16)),
    Case("qwen2", "qwen2", llama()),
    Case(
        "qwen2-old",
        "qwen2",
        llama(tie_word_embeddings=True),
        old=True,
        written={
            "use_sliding_window": False,
            "sliding_window": 5,
            "max_window_layers": 2,
            "layer_types": None,
        },
    ),
    Case("qwen2-window", "qwen2", llama(use_sliding_window=True, sliding_window=5, max_window_layers=1)),
    Case(
        "qwen2-window-old",
        "qwen2",
        llama(use_sliding_window=True, sliding_window=5, max_window_layers=1),
        old=True,
        written={"layer_types": None},
    ),
    Case("qwen2-yarn", "qwen2", llama(**YARN), old=True),
    Case("qwen3", "qwen3", llama(head_dim=12)),
    Case("qwen3-old", "qwen3", llama(head_dim=12, tie_word_embeddings=True), old=True),
    Case("qwen3-bias", "qwen3", llama(head_dim=8, attention_bias=True)),
    Case(
        "qwen3-window",
        "qwen3",
        llama(head_dim=8, use_sliding_window=True, sliding_window=5, max_window_layers=1),
    ),
    Case(
        "qwen3-layer-types",
        "qwen3",
        llama(head_dim=8, use_sliding_window=True, sliding_window=5, layer_types=ALTERNATE),
    ),
    Case("gemma2", "gemma2", llama(**GEMMA)),
    Case(
        "gemma2-old",
        "gemma2",
        llama(**GEMMA),
        old=True,
        written={"layer_types": None, "hidden_act": "gelu_pytorch_tanh", "cache_implementation": "hybrid"},
    ),
    Case(
        "gemma2-softcaps", "gemma2", llama(**GEMMA, attn_logit_softcapping=2.0, final_logit_softcapping=1.0)
    ),
    Case(
        "gemma2-no-softcaps",
        "gemma2",
        llama(**GEMMA, attn_logit_softcapping=None, final_logit_softcapping=None),
    ),
    Case(
        "gemma2-missing-softcaps",
        "gemma2",
        llama(**GEMMA),
        old=True,
        written={"attn_logit_softcapping": None, "final_logit_softcapping": None, "hidden_activation": None},
    ),
    Case("gemma2-untied", "gemma2", llama(**GEMMA, tie_word_embeddings=False)),
    Case("gemma2-bias", "gemma2", llama(**GEMMA, attention_bias=True)),
    Case("gemma3", "gemma3_text", llama(**GEMMA, layer_types=ALTERNATE)),
    Case(
        "gemma3-old",
        "gemma3_text",
        llama(
            **GEMMA,
            num_hidden_layers=4,
            layer_types=["sliding_attention", "full_attention"] * 2,
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": 200.0},
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 50000.0},
            },
        ),
        written={
            "rope_theta": 50000.0,
            "rope_local_base_freq": 200.0,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
            "rope_parameters": None,
            "layer_types": None,
            "sliding_window_pattern": 2,
        },
    ),
    Case(
        "gemma3-pattern",
        "gemma3_text",
        llama(**GEMMA, num_hidden_layers=7),
        written={"layer_types": None, "_sliding_window_pattern": None},
    ),
    Case(
        "gemma3-softcaps",
        "gemma3_text",
        llama(**GEMMA, final_logit_softcapping=1.5, attn_logit_softcapping=2.0),
    ),
    Case("phi3", "phi3", llama(sliding_window=5)),
    Case("phi3-old", "phi3", llama(sliding_window=None, original_max_position_embeddings=64), old=True),
    Case("phi3-partial", "phi3", llama(**rope("default", partial_rotary_factor=0.5))),
    Case(
        "phi3-longrope",
        "phi3",
        llama(
            max_position_embeddings=64,
            original_max_position_embeddings=12,
            **rope("longrope", short_factor=SHORT, long_factor=LONG),
        ),
        old=True,
        written={"original_max_position_embeddings": 12},
    ),
    Case(
        "phi3-longrope-short",
        "phi3",
        llama(
            max_position_embeddings=64,
            original_max_position_embeddings=32,
            **rope("longrope", short_factor=SHORT, long_factor=LONG),
        ),
    ),
    Case("gpt2", "gpt2", GPT2),
    Case(
        "gpt2-base",
        "gpt2",
        GPT2,
        base="transformer.",
        extra={"h.0.attn.bias": (1, 1, 64, 64), "h.0.attn.masked_bias": ()},
    ),
    Case("gpt2-inner", "gpt2", {**GPT2, "n_inner": 40, "activation_function": "relu"}),
    Case(
        "gpt2-scales", "gpt2", {**GPT2, "scale_attn_by_inverse_layer_idx": True, "scale_attn_weights": False}
    ),
    Case("gpt2-untied", "gpt2", {**GPT2, "tie_word_embeddings": False}),
    Case("gpt2-upcast", "gpt2", {**GPT2, "reorder_and_upcast_attn": True}),
    Case("bert", "bert", BERT),
    Case(
        "bert-gamma",
        "bert",
        BERT,
        gamma=True,
        old=True,
        written={"gradient_checkpointing": False},
        extra={
            "cls.seq_relationship.weight": (2, 32),
            "cls.seq_relationship.bias": (2,),
            "bert.pooler.dense.weight": (32, 32),
            "bert.embeddings.position_ids": (1, 32),
        },
    ),
    Case(
        "bert-types", "bert", {**BERT, "type_vocab_size": 3, "hidden_act": "gelu_new", "layer_norm_eps": 1e-5}
    ),
    Case("bert-relu", "bert", {**BERT, "hidden_act": "relu"}),
    Case("vit", "vit", VIT),
    Case("vit-no-bias", "vit", {**VIT, "qkv_bias": False, "num_labels": 5, "hidden_act": "gelu_new"}),
    Case("vit-gray", "vit", {**VIT, "num_channels": 1, "image_size": 12, "patch_size": 3}),
]


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
