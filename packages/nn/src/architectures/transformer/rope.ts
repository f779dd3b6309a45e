import { ConfigReader } from '../../files/config/config-reader.ts';

/** Rotary position embeddings of a model: the angle of pair i at position p is p·frequencies[i]. */
export interface Rope {
  /** The frequency of each pair of rotated elements. */
  readonly frequencies: readonly number[];
  /** The factor of cosine and sine: YaRN's temperature, otherwise 1. */
  readonly factor: number;
}

/** How a model rotates positions. */
export interface RopeRule {
  /** Whether the angles of all positions change as a sequence grows, as with dynamic scaling. */
  readonly changes: boolean;
  /** The angles for a sequence of the given length. */
  at(length: number): Rope;
}

/** The sizes, besides `rope_parameters`, that the angles of a model depend on. */
export interface RopeShape {
  readonly headDim: number;
  readonly maxPositions: number;
  /** Other names of types. */
  readonly aliases?: Readonly<Record<string, RopeType>> | undefined;
  /** Whether `partial_rotary_factor` may be below 1. */
  readonly partial?: boolean | undefined;
  /** The length that the model was trained on, if a file gives none outside the parameters. */
  readonly trained?: number | undefined;
}

type RopeType = 'default' | 'linear' | 'dynamic' | 'llama3' | 'yarn' | 'longrope';

/**
 * How positions are rotated, with the scaling of `rope_parameters`, or of `rope_theta` and `rope_scaling` in
 * older files.
 */
export function readRope(config: ConfigReader, shape: RopeShape): RopeRule {
  const parameters = config.object('rope_parameters') ?? config.object('rope_scaling');
  return readRopeParameters(parameters, shape, {
    // Both may be given: newer files repeat the base outside the parameters.
    theta: config.positive('rope_theta', 10_000),
    part: rotatedPart(config, shape, 1),
    // A length outside the parameters takes precedence over one inside.
    trained: config.integerOrNull('original_max_position_embeddings') ?? shape.trained,
  });
}

/**
 * The part of each head that is rotated. Where an architecture rotates whole heads, libraries do not agree on
 * what another factor means: versions of transformers ignore it or fail.
 */
function rotatedPart(config: ConfigReader, { partial }: RopeShape, standard: number): number {
  if (!partial) config.only('partial_rotary_factor', 1);
  const part = config.positive('partial_rotary_factor', standard);
  if (part > 1) config.fail('partial_rotary_factor', `must be at most 1, got ${part}`);
  return part;
}

interface OuterOptions {
  readonly theta: number;
  readonly part?: number | undefined;
  /** The length that the model was trained on before its scaling. */
  readonly trained?: number | undefined;
}

/** How positions are rotated, given one object of parameters, if there is one, and the options outside it. */
export function readRopeParameters(
  given: ConfigReader | null,
  shape: RopeShape,
  outer: OuterOptions,
): RopeRule {
  const { headDim, maxPositions, aliases = {} } = shape;
  const parameters = given ?? new ConfigReader({});
  const names = Object.keys({ ...scalings, ...aliases });
  const name = parameters.oneOf('rope_type', names, parameters.oneOf('type', names, 'default'));
  const theta = parameters.positive('rope_theta', outer.theta);
  const rotated = Math.floor(headDim * rotatedPart(parameters, shape, outer.part ?? 1));
  const stated = parameters.integer('original_max_position_embeddings', maxPositions);
  const trained = outer.trained ?? stated;
  const scale = scalings[aliases[name] ?? (name as RopeType)];
  const plain = plainFrequencies(rotated, theta);
  const rule = scale(parameters, { rotated, theta, plain, trained, maxPositions });
  parameters.finish();
  // Such angles would make all logits NaN. A rule has its largest frequencies at one of these lengths.
  for (const { frequencies, factor } of [rule.at(1), rule.at(Infinity)])
    if (!(Math.max(factor, ...frequencies) * maxPositions < 1e38))
      parameters.fail('rope_theta', 'or a factor gives angles beyond f32');
  return rule;
}

/** θ^(−2i/R) for each pair i of the R rotated elements of a head. */
function plainFrequencies(rotated: number, theta: number): number[] {
  return Array.from({ length: Math.ceil(rotated / 2) }, (_, i) => theta ** ((-2 * i) / rotated));
}

const fixed = (frequencies: readonly number[], factor = 1): RopeRule => ({
  changes: false,
  at: () => ({ frequencies, factor }),
});

interface Scaled {
  /** Elements of a head that are rotated. */
  readonly rotated: number;
  readonly theta: number;
  /** The frequencies without scaling. */
  readonly plain: readonly number[];
  /** The length that the model was trained on before its scaling. */
  readonly trained: number;
  readonly maxPositions: number;
}

type Scaling = (parameters: ConfigReader, shape: Scaled) => RopeRule;

const scalings: Readonly<Record<RopeType, Scaling>> = {
  default: (parameters, { plain }) => {
    // Some files also give a factor of 1.
    parameters.only('factor', 1);
    return fixed(plain);
  },
  linear: (parameters, { plain }) => {
    const factor = parameters.positive('factor');
    return fixed(plain.map(f => f / factor));
  },
  // "NTK-aware" scaling: beyond the positions of the model, the base grows with the length of the sequence.
  dynamic: (parameters, { rotated, theta, maxPositions }) => {
    const factor = parameters.positive('factor');
    return {
      changes: true,
      at(length) {
        const share = Math.max(length, maxPositions) / maxPositions;
        const base = theta * (factor * share - (factor - 1)) ** (rotated / (rotated - 2));
        return { frequencies: plainFrequencies(rotated, base), factor: 1 };
      },
    };
  },
  // Llama 3.1: long wavelengths are stretched, short ones are not, and those in between are interpolated.
  llama3: (parameters, { plain, trained }) => {
    const factor = parameters.positive('factor');
    const low = parameters.positive('low_freq_factor');
    const high = parameters.positive('high_freq_factor');
    return fixed(
      plain.map(f => {
        const turns = (trained * f) / (2 * Math.PI);
        if (turns < low) return f / factor;
        if (turns > high) return f;
        const share = (turns - low) / (high - low);
        return (1 - share) * (f / factor) + share * f;
      }),
    );
  },
  yarn,
  // LongRoPE (arXiv:2402.13753): a divisor for each pair, from one list up to the trained length and from
  // another beyond it.
  longrope: (parameters, { plain, trained, maxPositions }) => {
    const [short, long] = ['short_factor', 'long_factor'].map(name => parameters.numbers(name, plain.length));
    const factor = parameters.positive('factor', maxPositions / trained);
    const standard = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(trained));
    const attentionFactor = parameters.positive('attention_factor', standard);
    const ropeOf = (divisors: readonly number[]): Rope => ({
      frequencies: plain.map((f, i) => f / divisors[i]),
      factor: attentionFactor,
    });
    const [within, beyond] = [ropeOf(short), ropeOf(long)];
    return { changes: true, at: length => (length > trained ? beyond : within) };
  },
};

/** YaRN (Peng et al. 2023, arXiv:2309.00071), equations 22, 23 and 25. */
function yarn(parameters: ConfigReader, { rotated, theta, plain, trained, maxPositions }: Scaled): RopeRule {
  const factor = parameters.positive('factor', maxPositions / trained);
  const fast = parameters.positive('beta_fast', 32);
  const slow = parameters.positive('beta_slow', 1);
  const truncate = parameters.flag('truncate', true);
  const temperature = (scale: number, multiplier = 1): number =>
    scale <= 1 ? 1 : 0.1 * multiplier * Math.log(scale) + 1;
  const mscale = parameters.number('mscale', 0);
  const mscaleAll = parameters.number('mscale_all_dim', 0);
  const standard =
    mscale !== 0 && mscaleAll !== 0
      ? temperature(factor, mscale) / temperature(factor, mscaleAll)
      : temperature(factor);
  const attentionFactor = parameters.positive('attention_factor', standard);
  /** The pair that makes this many turns within the original length. */
  const pairOf = (turns: number): number =>
    (rotated * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [from, to] = [pairOf(fast), pairOf(slow)];
  const first = Math.max(truncate ? Math.floor(from) : from, 0);
  const last = Math.min(truncate ? Math.ceil(to) : to, rotated - 1);
  const width = last - first || 0.001;
  return fixed(
    plain.map((f, i) => {
      const share = Math.min(Math.max((i - first) / width, 0), 1);
      return (f / factor) * share + f * (1 - share);
    }),
    attentionFactor,
  );
}
