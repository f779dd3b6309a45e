"""The configurations of the checkpoints that make_models.py writes."""

from dataclasses import dataclass, field

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
    Case("gemma", "gemma", llama(head_dim=16)),
    Case(
        "gemma-old",
        "gemma",
        llama(head_dim=16, num_key_value_heads=1),
        old=True,
        written={"hidden_act": "gelu", "hidden_activation": None},
    ),
    Case("gemma-act", "gemma", llama(head_dim=16, hidden_act="silu", attention_bias=True)),
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
