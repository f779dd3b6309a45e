import { measurementName } from './compare-reports.ts';
import { type DeviceReport, deviceName, teraflops } from './device-report.ts';
import { rooflineOf } from './roofline.ts';

/** A report as Markdown, to paste into an issue. */
export function reportMarkdown(report: DeviceReport): string {
  const { diagnosis, made, host } = report;
  const { status, verdict, source, features, limits, variants, checks } = diagnosis;
  const lacking = variants.filter(({ enabled }) => !enabled);
  return [
    `# Attention on ${inline(deviceName(report))}`,
    `**${status}**: ${inline(verdict)}`,
    [
      `- WebGPU from ${inline(source)}`,
      ...(host ? [`- in ${inline(host)}`] : []),
      ...(made ? [`- ${inline(made)}`] : []),
      `- features: ${features.map(inline).join(', ') || 'none'}`,
    ].join('\n'),
    ...section(
      'Correctness against the float64 reference',
      ['case', 'result', 'error', 'allowed'],
      checks.map(({ name, error, allowed, failure }) => [
        name,
        error <= allowed ? 'right' : '**wrong**',
        failure ?? error.toExponential(1),
        allowed.toExponential(1),
      ]),
    ),
    ...speeds(report),
    ...section(
      'Limits',
      ['limit', 'value', 'guaranteed'],
      limits.map(({ name, value, guaranteed }) => [name, `${value}`, `${guaranteed}`]),
    ),
    ...section(
      'Combinations of options that this device cannot run',
      ['options', 'reason'],
      lacking.map(({ name, reasons }) => [name, reasons.join('; ')]),
    ),
  ].join('\n\n');
}

function speeds(report: DeviceReport): string[] {
  const { peak, attention } = report;
  const roofline = rooflineOf(report);
  const peaks = peak && [
    ...peak.matmuls.map(({ precision, kernel, tflops }) => [
      `matmul ${peak.size}³, ${precision} (${kernel})`,
      `${tflops.toPrecision(3)} TFLOP/s`,
    ]),
    ['copy', `${peak.gigabytesPerSecond.toPrecision(3)} GB/s`],
  ];
  const { D = 0, dtype = '', causal = false } = attention?.settings ?? {};
  const rows = attention?.measurements.map(measurement => {
    const { ms, failure, error } = measurement;
    const point = roofline?.points.find(one => one.measurement === measurement);
    return [
      measurementName(measurement, D),
      ms === undefined ? (failure ?? '') : `${ms.toPrecision(3)} ms`,
      teraflops(measurement)?.toPrecision(3) ?? '',
      point ? `${Math.round((100 * point.reached) / point.predicted)} %` : '',
      error?.toExponential(1) ?? '',
    ];
  });
  const on = attention && attention.machine.engine === 'cpu' ? `, ${attention.machine.description}` : '';
  return [
    ...section('Peak', ['what', 'speed'], peaks ?? []),
    ...section(
      `Attention in ${dtype}${causal ? ', causal' : ''}${on}`,
      ['what (heads × length × head size)', 'time', 'TFLOP/s', 'of the roofline', 'error'],
      rows ?? [],
    ),
  ];
}

/** A table under its title; empty if there are no rows. */
function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.map(inline).join(' | ')} |`;
  return [
    `## ${inline(title)}`,
    [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n'),
  ];
}

/** A text as one line for a table cell, without links or HTML elements. */
const inline = (text: string): string => text.replace(/\s+/g, ' ').replace(/[|<>[\]`]/g, '\\$&');
