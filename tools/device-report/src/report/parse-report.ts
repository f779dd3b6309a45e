import { InvalidArgumentError } from '@tilewise/core';
import type { Diagnosis } from '@tilewise/webgpu/doctor';
import type { Machine, Measurement } from '../attention/measurement.ts';
import type { AttentionReport, DeviceReport, PeakReport } from './device-report.ts';
import { JsonReader } from './json-reader.ts';

/** The limit for the text of a report; reports have a few kilobytes. */
const maxCharacters = 2 ** 20;

/**
 * Parses the JSON of a report, or of a diagnosis by `npx @tilewise/webgpu doctor --json`. The text may come
 * from strangers, so every field of the result has been checked, and unknown fields are dropped.
 * @throws InvalidArgumentError for anything else, naming the field.
 */
export function parseReport(text: string): DeviceReport {
  if (text.length > maxCharacters)
    throw new InvalidArgumentError(
      'report',
      `must have at most ${maxCharacters} characters, got ${text.length}`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('report', 'must be JSON, as the page or `doctor --json` writes it');
  }
  const reader = new JsonReader(value, 'report');
  const empty = { format: 'tilewise-device-report', version: 1, made: '', host: '' } as const;
  if (reader.at('format').isAbsent && !reader.at('verdict').isAbsent)
    return { ...empty, diagnosis: readDiagnosis(reader), peak: null, attention: null };
  reader.at('format').oneOf([empty.format]);
  if (reader.at('version').number() !== empty.version)
    throw new InvalidArgumentError(
      'report.version',
      `must be ${empty.version}: update the page or the report`,
    );
  return {
    ...empty,
    made: reader.at('made').text(),
    host: reader.at('host').text(),
    diagnosis: readDiagnosis(reader.at('diagnosis')),
    peak: reader.at('peak').optional(readPeak) ?? null,
    attention: reader.at('attention').optional(readAttention) ?? null,
  };
}

function readDiagnosis(reader: JsonReader): Diagnosis {
  const adapter = reader.at('adapter').optional(one => ({
    vendor: one.at('vendor').text(),
    architecture: one.at('architecture').text(),
    device: one.at('device').text(),
    description: one.at('description').text(),
    software: one.at('software').flag(),
  }));
  return {
    status: reader.at('status').oneOf(['ok', 'slow', 'wrong', 'missing']),
    verdict: reader.at('verdict').text(),
    source: reader.at('source').text(),
    adapter: adapter ?? null,
    features: reader.at('features').list(one => one.text()),
    limits: reader.at('limits').list(one => ({
      name: one.at('name').text(),
      value: one.at('value').number(),
      guaranteed: one.at('guaranteed').number(),
    })),
    variants: reader.at('variants').list(one => ({
      name: one.at('name').text(),
      enabled: one.at('enabled').flag(),
      reasons: one.at('reasons').list(reason => reason.text()),
    })),
    checks: reader.at('checks').list(one => ({
      name: one.at('name').text(),
      error: one.at('error').error(),
      allowed: one.at('allowed').number(),
      milliseconds: one.at('milliseconds').number(),
      failure: one.at('failure').optional(failure => failure.text()) ?? null,
    })),
  };
}

function readPeak(reader: JsonReader): PeakReport {
  return {
    size: reader.at('size').number(),
    matmuls: reader.at('matmuls').list(one => ({
      precision: one.at('precision').text(),
      kernel: one.at('kernel').text(),
      tflops: one.at('tflops').number(),
    })),
    gigabytesPerSecond: reader.at('gigabytesPerSecond').number(),
    clock: reader.at('clock').text(),
  };
}

function readAttention(reader: JsonReader): AttentionReport {
  const settings = reader.at('settings');
  return {
    settings: {
      D: settings.at('D').number(),
      dtype: settings.at('dtype').oneOf(['f32', 'f16', 'bf16']),
      causal: settings.at('causal').flag(),
    },
    machine: readMachine(reader.at('machine')),
    measurements: reader.at('measurements').list(readMeasurement),
  };
}

function readMachine(reader: JsonReader): Machine {
  const instead = reader.at('instead').optional(one => one.text());
  return {
    engine: reader.at('engine').oneOf(['webgpu', 'cpu']),
    description: reader.at('description').text(),
    software: reader.at('software').flag(),
    clock: reader.at('clock').oneOf(['timestamps', 'wall clock']),
    ...(instead !== undefined && { instead }),
  };
}

function readMeasurement(reader: JsonReader): Measurement {
  const ms = reader.at('ms').optional(one => one.number());
  const error = reader.at('error').optional(one => one.error());
  const failure = reader.at('failure').optional(one => one.oneOf(['too large', 'wrong']));
  return {
    implementation: reader.at('implementation').oneOf(['flash', 'naive']),
    pass: reader.at('pass').oneOf(['forward', 'backward']),
    heads: reader.at('heads').number(),
    S: reader.at('S').number(),
    flops: reader.at('flops').number(),
    bytes: reader.at('bytes').number(),
    ...(ms !== undefined && { ms }),
    ...(error !== undefined && { error }),
    ...(failure !== undefined && { failure }),
  };
}
