import { describe, expect, test } from 'vitest';
import { ConfigReader } from '../../files/config/config-reader.ts';
import { readRope } from './rope.ts';

const shape = { headDim: 8, maxPositions: 128 };
const plain = [1, 0.1, 0.01, 0.001];
const ropeOf = (json: Record<string, unknown>, length = 16) =>
  readRope(new ConfigReader(json), shape).at(length);

function expectFrequencies(got: readonly number[], wanted: readonly number[]): void {
  expect(got).toHaveLength(wanted.length);
  for (const [n, f] of got.entries()) expect(f).toBeCloseTo(wanted[n], 10);
}

describe('both generations of configurations', () => {
  test.each<readonly [string, Record<string, unknown>]>([
    ['nothing', {}],
    ['rope_theta alone', { rope_theta: 10_000 }],
    ['rope_parameters', { rope_parameters: { rope_type: 'default', rope_theta: 10_000 } }],
    ['rope_theta with a scaling that is null', { rope_theta: 10_000, rope_scaling: null }],
  ])('%s: θ^(−2i/D)', (_, json) => {
    expectFrequencies(ropeOf(json).frequencies, plain);
  });

  test.each([{ type: 'linear' }, { rope_type: 'linear' }])('a scaling by %j', name => {
    expectFrequencies(
      ropeOf({ rope_theta: 10_000, rope_scaling: { ...name, factor: 4 } }).frequencies,
      plain.map(f => f / 4),
    );
  });
});

test('dynamic scaling begins beyond the trained length', () => {
  const json = { rope_scaling: { rope_type: 'dynamic', factor: 2 } };
  expectFrequencies(ropeOf(json, 128).frequencies, plain);
  const base = 10_000 * ((2 * 256) / 128 - 1) ** (8 / 6);
  expectFrequencies(
    ropeOf(json, 256).frequencies,
    [0, 2, 4, 6].map(i => base ** (-i / 8)),
  );
});

test("Llama 3's scaling keeps short wavelengths, slows long ones, and joins them", () => {
  const scaling = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const got = ropeOf({ rope_scaling: { ...scaling, original_max_position_embeddings: 128 } }).frequencies;
  // 128·f / 2π turns within the original length: 20.4, 2.04, 0.2, 0.02.
  const share = ((128 * 0.1) / (2 * Math.PI) - 1) / 3;
  expectFrequencies(got, [1, (1 - share) * (0.1 / 8) + share * 0.1, 0.01 / 8, 0.001 / 8]);
});

test("Llama 3's scaling slows wavelengths that are both long and short, as transformers does", () => {
  const scaling = { rope_type: 'llama3', factor: 8, low_freq_factor: 4, high_freq_factor: 1 };
  const got = ropeOf({ rope_scaling: { ...scaling, original_max_position_embeddings: 128 } }).frequencies;
  expectFrequencies(got, [1, 0.1 / 8, 0.01 / 8, 0.001 / 8]);
});

test('YaRN keeps fast rotations, divides slow ones, and scales attention', () => {
  const scaling = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128 };
  const { frequencies, factor } = ropeOf({ rope_scaling: scaling });
  expect(factor).toBeCloseTo(0.1 * Math.log(4) + 1, 12);
  // Pairs that turn 32 times and once within 128 tokens: −0.19 and 1.31, so the ramp goes from 0 to 2.
  expectFrequencies(frequencies, [1, (0.1 + 0.1 / 4) / 2, 0.01 / 4, 0.001 / 4]);
  expect(ropeOf({ rope_scaling: { ...scaling, attention_factor: 1.5 } }).factor).toBe(1.5);
});

test('LongRoPE divides by one list within the trained length and by another beyond, and scales attention', () => {
  const scaling = { type: 'longrope', short_factor: [1, 2, 2, 4], long_factor: [1, 4, 8, 16] };
  const json = { original_max_position_embeddings: 32, rope_scaling: scaling };
  expectFrequencies(ropeOf(json, 32).frequencies, [1, 0.05, 0.005, 0.00025]);
  expectFrequencies(ropeOf(json, 33).frequencies, [1, 0.025, 0.00125, 0.0000625]);
  expect(ropeOf(json).factor).toBeCloseTo(Math.sqrt(1 + Math.log(4) / Math.log(32)), 12);
});

test('the angles of dynamic scaling and of LongRoPE change with the length, others do not', () => {
  const changes = (scaling: object) => readRope(new ConfigReader({ rope_scaling: scaling }), shape).changes;
  expect(changes({ rope_type: 'dynamic', factor: 2 })).toBe(true);
  expect(changes({ rope_type: 'linear', factor: 2 })).toBe(false);
});

test('a part of each head is rotated, and an odd part is rounded up to pairs', () => {
  const frequencies = (factor: number) =>
    readRope(new ConfigReader({ partial_rotary_factor: factor }), { ...shape, partial: true }).at(1)
      .frequencies;
  expectFrequencies(frequencies(0.5), [1, 0.01]);
  expectFrequencies(frequencies(0.625), [1, 10 ** -1.6, 10 ** -3.2]);
});

test('YaRN interpolates nothing if no pair turns often enough within the trained length', () => {
  const scaling = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 4, truncate: false };
  expectFrequencies(ropeOf({ rope_scaling: scaling }).frequencies, plain);
});

test.each<readonly [Record<string, unknown>, string]>([
  [{ rope_scaling: { rope_type: 'ntk', factor: 4 } }, 'rope_scaling.rope_type must be one of'],
  [
    { rope_scaling: { rope_type: 'longrope', short_factor: [1, 1, 1], long_factor: [2, 2, 2, 2] } },
    'rope_scaling.short_factor must be an array of 4 numbers > 0',
  ],
  [{ rope_scaling: { rope_type: 'linear' } }, 'rope_scaling.factor is missing'],
  [{ rope_parameters: { rope_theta: 'big' } }, 'rope_parameters.rope_theta must be a number > 0, got "big"'],
  [{ rope_parameters: { rope_theta: 0 } }, 'rope_parameters.rope_theta must be a number > 0, got 0'],
  [{ rope_scaling: { rope_type: 'linear', factor: -2 } }, 'rope_scaling.factor must be a number > 0, got -2'],
  [{ rope_theta: 1e-300 }, 'rope_theta or a factor gives angles beyond f32'],
  [{ rope_scaling: { rope_type: 'linear', factor: 1e-320 } }, 'or a factor gives angles beyond f32'],
  [{ rope_scaling: { rope_type: 'yarn', factor: 4, attention_factor: 1e39 } }, 'angles beyond f32'],
  [
    { rope_scaling: { type: 'longrope', short_factor: [1, 1, 1, 1], long_factor: [1, 1e-300, 1, 1] } },
    'angles beyond f32',
  ],
  [
    { rope_parameters: { rope_type: 'default', mrope_section: [1] } },
    'rope_parameters.mrope_section is an unknown option',
  ],
])('%j is refused', (json, message) => {
  expect(() => ropeOf(json)).toThrow(message);
});
