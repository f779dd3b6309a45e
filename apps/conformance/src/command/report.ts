import type { CaseResult, Counts } from '../cases/case.ts';
import type { RunListener } from '../cases/run-cases.ts';

/**
 * Where a report is written: lines to `out`; `status`, if present, shows what is running and is erased again.
 */
export interface ReportSink {
  out(line: string): void;
  status?(text: string): void;
}

/** A listener that writes each result, and a function that writes the counts at the end. */
export interface Report extends RunListener {
  counted(counts: Counts): void;
}

/** One JSON object per case; the last line is `{"counts": …}`. */
export function jsonReport({ out }: ReportSink): Report {
  return {
    finished: result => out(JSON.stringify(result)),
    counted: counts => out(JSON.stringify({ counts })),
  };
}

/** One line per case for people, with the reason after the name. */
export function textReport({ out, status }: ReportSink): Report {
  return {
    started: (name, index, total) => status?.(`${index + 1}/${total} ${name}`),
    finished: result => {
      status?.('');
      out(textLine(result));
    },
    counted: ({ pass, fail, unsupported, skipped }) =>
      out(`\n${pass} passed, ${fail} failed, ${unsupported} unsupported, ${skipped} skipped`),
  };
}

function textLine({ case: name, status, reason, ms }: CaseResult): string {
  const time = status === 'skipped' ? '' : `  ${Math.round(ms)} ms`;
  return `${status.padEnd(11)}  ${name}${reason === null ? '' : `  ${oneLine(reason)}`}${time}`;
}

/** Messages of shader compilers can be pages long; the JSON report has all of them. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
