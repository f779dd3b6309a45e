import { encodeSafetensors, type Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { LinearShape } from '../architectures/transformer/scope.ts';
import { checkArgument, checkFields } from '../checks/check-fields.ts';
import { engineRule, hasMethod } from '../checks/rules.ts';
import { readSafetensors } from '../files/checkpoint/read-safetensors.ts';
import { ConfigReader } from '../files/config/config-reader.ts';
import { CheckpointError } from '../files/sources/checkpoint-error.ts';
import { type ModelFiles, readJson } from '../files/sources/model-files.ts';
import {
  type AdapterConfig,
  type AdapterWeights,
  isTarget,
  type LoraConfig,
  loraNames,
  loraRules,
} from '../model/adapter.ts';
import { uploadAll } from '../model/upload.ts';
import { checkWeight } from '../model/weights.ts';

const configFile = 'adapter_config.json';
const weightsFile = 'adapter_model.safetensors';
/** The prefix that peft puts before the names of the model. */
const PREFIX = 'base_model.model.';

/**
 * Options of peft that must keep their default: each changes the computation of an adapter. So do options
 * that are null or empty by default, such as `rank_pattern`; they are not written.
 */
const plainOptions: Readonly<Record<string, unknown>> = {
  peft_type: 'LORA',
  bias: 'none',
  lora_bias: false,
  use_dora: false,
  use_qalora: false,
};

/** Fields that are written only for peft. */
const writtenOptions: Readonly<Record<string, unknown>> = {
  ...{ auto_mapping: null, base_model_name_or_path: null, inference_mode: true, init_lora_weights: true },
  ...{ layers_pattern: null, revision: null },
};

/** Other fields that change nothing. */
const ignoredOptions = ['fan_in_fan_out', 'megatron_core', 'peft_version', 'qalora_group_size', 'task_type'];

/** The values of `init_lora_weights` that do not change the weights of the model. */
const plainInitialisations: readonly unknown[] = [true, false, null, 'gaussian', 'orthogonal'];

/**
 * Reads peft's configuration of an adapter.
 * @throws ConfigError naming an option that is wrong, unknown or not supported.
 */
export function readLoraConfig(json: Readonly<Record<string, unknown>>): AdapterConfig {
  const config = new ConfigReader(json, '', configFile);
  for (const [name, value] of Object.entries(plainOptions)) config.only(name, value);
  const initial = json.init_lora_weights ?? null;
  if (!plainInitialisations.includes(initial))
    config.fail(
      'init_lora_weights',
      `is ${JSON.stringify(initial)}, which changes the weights of the model; convert the adapter with ` +
        'save_pretrained(…, path_initial_model_for_weight_conversion=…) of peft',
    );
  // Later versions of peft write the flags of their new options, which are off unless an adapter uses them.
  const off = Object.keys(json).filter(name => json[name] === false);
  for (const name of [...Object.keys(writtenOptions), ...ignoredOptions, ...off]) config.has(name);
  const read = {
    rank: config.integer('r'),
    alpha: config.checked<number>('lora_alpha', loraRules.alpha),
    dropout: config.checked('lora_dropout', loraRules.dropout, 0),
    targets: config.checked<readonly string[]>('target_modules', loraRules.targets),
    rankStabilised: config.flag('use_rslora', false),
  };
  // Refuses options that are neither null nor empty.
  config.finish('is not supported');
  return read;
}

/**
 * Loads an adapter that peft, `saveAdapter` or `adapterFiles` wrote.
 * @param layers the linear layers of the model, `model.layers.linear`.
 * @throws CheckpointError for files that are missing, damaged or do not fit the model; ConfigError naming an
 * option of peft that is wrong or not supported; InvalidArgumentError for another value of `layers` or
 * `files`.
 */
export async function loadAdapter<T extends TensorDesc>(
  files: ModelFiles,
  layers: ReadonlyMap<string, LinearShape>,
  engine: TensorEngine<T>,
): Promise<AdapterWeights<T>> {
  checkArgument('layers', layers, {
    rule: 'must be the layers.linear of a model',
    holds: x => hasMethod(x, 'entries'),
  });
  checkArgument('engine', engine, engineRule);
  const json = await readJson(files, configFile);
  const config = json && readLoraConfig(json);
  // An open file that nobody reads would stay open.
  const source = config && (await files.open(weightsFile));
  if (!source) throw new CheckpointError({ file: files.name }, `has no ${config ? weightsFile : configFile}`);
  const shapes = adapterShapes(config, layers);
  const loaded = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(source, { file: weightsFile })) {
    const place = { file: weightsFile, tensor: name };
    const own = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
    const shape = shapes.get(own);
    if (!shape) throw new CheckpointError(place, 'is not a weight of this adapter');
    if (loaded.has(own)) throw new CheckpointError(place, `duplicates the weight '${own}'`);
    checkWeight(place, tensor, shape);
    loaded.set(own, tensor);
  }
  const missing = [...shapes.keys()].find(name => !loaded.has(name));
  if (missing !== undefined)
    throw new CheckpointError({ file: weightsFile, tensor: PREFIX + missing }, 'is missing');
  // In the order of the layers, as in a new adapter, so that training sums gradients in the same order.
  const tensors = uploadAll(engine, shapes, (_, name) => loaded.get(name) as Tensor);
  return { config, tensors: Object.fromEntries(tensors) };
}

/** The shapes of an adapter's matrices, by name. */
export function adapterShapes(
  config: LoraConfig,
  layers: ReadonlyMap<string, LinearShape>,
): ReadonlyMap<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>();
  for (const [layer, { inputs, outputs }] of layers) {
    if (!isTarget(config, layer)) continue;
    const [a, b] = loraNames(layer);
    shapes.set(a, [config.rank, inputs]);
    shapes.set(b, [outputs, config.rank]);
  }
  return shapes;
}

/**
 * The files of an adapter in peft's format, by name: `adapter_config.json` and `adapter_model.safetensors`.
 * @param tensors the matrices on the host, by `LAYER.lora_A.weight` (r, in) and `LAYER.lora_B.weight` (out,
 * r).
 * @throws InvalidArgumentError for an invalid configuration.
 */
export function adapterFiles(
  config: LoraConfig,
  tensors: ReadonlyMap<string, Tensor>,
  {
    transposed,
    taskType = 'CAUSAL_LM',
  }: {
    /** Whether the weights of the layers are stored (in, out), as in GPT-2. */
    readonly transposed: boolean;
    /** The task of peft; null for models that do not predict the next token. Default: `'CAUSAL_LM'`. */
    readonly taskType?: 'CAUSAL_LM' | null | undefined;
  },
): Readonly<Record<string, Uint8Array<ArrayBuffer>>> {
  checkFields('config', config, loraRules);
  const { rank, alpha, targets, dropout = 0, rankStabilised = false } = config;
  const json = {
    ...plainOptions,
    ...writtenOptions,
    fan_in_fan_out: transposed,
    task_type: taskType,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: dropout,
    target_modules: targets,
    use_rslora: rankStabilised,
  };
  const named = new Map([...tensors].map(([name, tensor]) => [PREFIX + name, tensor] as const));
  return {
    [configFile]: new TextEncoder().encode(JSON.stringify(json, Object.keys(json).sort(), 2)),
    [weightsFile]: encodeSafetensors(named, { format: 'pt' }),
  };
}
