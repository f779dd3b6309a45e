import type { Measurement } from '../attention/measurement.ts';
import { type DeviceReport, teraflops } from './device-report.ts';

/** A number or a word that both reports may contain. */
export interface ComparedRow {
  readonly group: 'speed' | 'correctness' | 'device';
  /** The name of the number or word, in English. */
  readonly name: string;
  /** null if a report does not have it. */
  readonly values: readonly [first: number | string | null, second: number | string | null];
  readonly unit: string;
  /** The second number divided by the first, if both are numbers and more is better. */
  readonly ratio: number | null;
}

type Facts = ReadonlyMap<string, Omit<ComparedRow, 'values' | 'ratio'> & { readonly value: number | string }>;

/** Two reports side by side: every fact that either of them contains, in the order of the first. */
export function compareReports(first: DeviceReport, second: DeviceReport): ComparedRow[] {
  const facts = [factsOf(first), factsOf(second)] as const;
  return [...new Map([...facts[0], ...facts[1]]).entries()].map(([key, { group, name, unit }]) => {
    const [a = null, b = null] = facts.map(of => of.get(key)?.value);
    const isSpeed = group === 'speed' && typeof a === 'number' && typeof b === 'number' && a > 0;
    return { group, name, unit, values: [a, b], ratio: isSpeed ? b / a : null };
  });
}

const passed = ({ error, allowed }: { readonly error: number; readonly allowed: number }): string =>
  error <= allowed ? 'right' : 'wrong';

function factsOf({ diagnosis, peak, attention }: DeviceReport): Facts {
  const rows: (Omit<ComparedRow, 'values' | 'ratio'> & { readonly value: number | string })[] = [];
  const add = (group: ComparedRow['group'], name: string, value: number | string, unit = ''): void => {
    rows.push({ group, name, value, unit });
  };
  add('correctness', 'verdict', diagnosis.status);
  for (const check of diagnosis.checks) add('correctness', check.name, passed(check));
  for (const { precision, tflops } of peak?.matmuls ?? [])
    add('speed', `peak, ${precision}`, tflops, 'TFLOP/s');
  if (peak) add('speed', 'copy', peak.gigabytesPerSecond, 'GB/s');
  for (const measurement of attention?.measurements ?? []) {
    const speed = teraflops(measurement);
    const { D, dtype, causal } = attention?.settings ?? {};
    const name = [measurementName(measurement, D ?? 0), dtype, causal && 'causal'].filter(Boolean).join(', ');
    if (speed !== undefined) add('speed', name, speed, 'TFLOP/s');
  }
  for (const { name, value } of diagnosis.limits) add('device', name, value);
  for (const feature of diagnosis.features) add('device', feature, 'yes');
  return new Map(rows.map(row => [`${row.group} ${row.name}`, row]));
}

/** A measurement in a few words, such as `flash forward, 8 × 512 × 64`: heads, length, head size. */
export function measurementName({ implementation, pass, heads, S }: Measurement, D: number): string {
  return `${implementation} ${pass}, ${heads} × ${S} × ${D}`;
}
