import type { Diagnosis } from './diagnosis.ts';

/** Formats a diagnosis for people: a few lines, with the verdict last. */
export function formatDiagnosis(diagnosis: Diagnosis): string {
  const { adapter, features, limits, variants, checks, tiles = [], source, status, verdict } = diagnosis;
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [
      'Adapter',
      adapter
        ? [
            [adapter.description, adapter.vendor, adapter.architecture, adapter.device]
              .filter(Boolean)
              .join(', '),
            `from ${source}${adapter.software ? ', a software adapter' : ''}`,
          ]
        : [`none, from ${source}`],
    ],
    ['Features', features.length > 0 ? [features.join(', ')] : []],
    ['Limits', limits.map(({ name, value, guaranteed }) => `${name} ${value} (guaranteed ${guaranteed})`)],
    [
      'Kernel variants',
      variants.map(
        ({ name, enabled, reasons }) => `${enabled ? 'yes' : 'no '}  ${[name, ...reasons].join(': ')}`,
      ),
    ],
    [
      'Against the float64 reference',
      checks.map(({ name, error, allowed, milliseconds, failure }) => {
        const right = error <= allowed ? 'right' : 'WRONG';
        const size = `error ${error.toExponential(1)}, allowed ${allowed.toExponential(1)}`;
        return `${right}  ${name}: ${failure ?? size}, ${Math.round(milliseconds)} ms including compilation`;
      }),
    ],
    [
      'Tiles, with their time relative to the baseline tile',
      tiles.map(
        ({ kernel, adapterClass, tile, predicted, measured }) =>
          `${kernel}: predicted ${timeText(predicted)} (${adapterClass}), measured ${timeText(measured)}; ${tile}`,
      ),
    ],
    [`Verdict: ${status}`, [verdict]],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map(line => `  ${line}`)].join('\n'))
    .join('\n\n');
}

const timeText = (time: number | null): string => (time === null ? 'unknown' : time.toFixed(2));
