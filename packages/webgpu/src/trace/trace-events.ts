/** A timed kernel (by the GPU's clock) or a timed part of a graph (by the clock of the thread). */
export interface TraceRecord {
  readonly name: string;
  readonly where: 'gpu' | 'host';
  /** The start time, in nanoseconds of the clock. */
  readonly start: number;
  readonly end: number;
  /** The parts of the graph that contain it, the outermost first. */
  readonly parts: readonly string[];
  /** The number of the library's pass that a kernel belongs to. */
  readonly pass: number;
  readonly workgroups: number;
}

/** One event of the trace event format that Chrome and Perfetto read. */
export interface TraceEvent {
  /** The name of the kernel, partition or pass; for metadata `process_name` or `thread_name`. */
  readonly name: string;
  /** `kernel`, `partition` or `pass`; undefined for metadata. */
  readonly cat?: string;
  /** `X` for an event with a duration, `M` for the name of a process or thread. */
  readonly ph: 'X' | 'M';
  /** The start, in microseconds since the first event of its clock. */
  readonly ts?: number;
  /** The duration, in microseconds. */
  readonly dur?: number;
  /** The clock that timed the event: 1 for that of the GPU, 2 for that of this thread. */
  readonly pid: number;
  /** The row of the event: on the GPU 1 for passes, 2 for partitions, 3 for kernels; on the thread 1. */
  readonly tid: number;
  /** The partition and the number of workgroups of a timed event; the `name` of a process or thread. */
  readonly args?: Readonly<Record<string, string | number>>;
}

const gpu = 1;
const host = 2;
const threads = [
  { pid: gpu, tid: 1, cat: 'pass', name: 'passes' },
  { pid: gpu, tid: 2, cat: 'partition', name: 'partitions' },
  { pid: gpu, tid: 3, cat: 'kernel', name: 'kernels' },
  { pid: host, tid: 1, cat: 'partition', name: 'recording' },
] as const;

/**
 * Converts records to events: for the GPU, a row of passes, one of partitions and one of kernels; for the
 * host, a row with the recording of partitions (or, on an engine of the host, with their execution). The two
 * clocks have no common origin, so each begins at 0.
 */
export function traceEvents(records: readonly TraceRecord[]): TraceEvent[] {
  const kernels = records.filter(({ where }) => where === 'gpu');
  const parts = records.filter(({ where }) => where === 'host');
  const passes = runsOf(kernels, ({ pass }) => `pass ${pass}`);
  const partitions = runsOf(kernels, ({ pass, parts: own }) =>
    own.length > 0 ? `${own.join(' / ')}\n${pass}` : undefined,
  );
  const origin = originOf(kernels);
  return [
    ...[gpu, host].map(pid => metadata('process_name', pid, 0, pid === gpu ? 'GPU' : 'this thread')),
    ...threads.map(({ pid, tid, name }) => metadata('thread_name', pid, tid, name)),
    ...lasting(threads[0], passes, origin),
    ...lasting(threads[1], partitions, origin),
    ...lasting(threads[2], kernels, origin),
    ...lasting(threads[3], parts, originOf(parts)),
  ];
}

/** The start of the first record, in nanoseconds of the clock that all records are timed by. */
function originOf(records: readonly TraceRecord[]): number {
  return records.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
}

function metadata(name: string, pid: number, tid: number, value: string): TraceEvent {
  return { name, ph: 'M', pid, tid, args: { name: value } };
}

/** Joins consecutive kernels with the same key. */
function runsOf(
  kernels: readonly TraceRecord[],
  keyOf: (kernel: TraceRecord) => string | undefined,
): TraceRecord[] {
  const runs: TraceRecord[] = [];
  let last: string | undefined;
  for (const kernel of kernels) {
    const key = keyOf(kernel);
    const open = runs.at(-1);
    if (key !== undefined && key === last && open) {
      runs[runs.length - 1] = {
        ...open,
        end: Math.max(open.end, kernel.end),
        workgroups: open.workgroups + kernel.workgroups,
      };
    } else if (key !== undefined) runs.push({ ...kernel, name: key.split('\n')[0] });
    last = key;
  }
  return runs;
}

function lasting(
  { pid, tid, cat }: (typeof threads)[number],
  records: readonly TraceRecord[],
  origin: number,
): TraceEvent[] {
  return records.map(({ name, start, end, parts, workgroups }) => ({
    name,
    cat,
    ph: 'X',
    ts: (start - origin) / 1000,
    dur: (end - start) / 1000,
    pid,
    tid,
    args: { ...(parts.length > 0 && { partition: parts.join(' / ') }), ...(pid === gpu && { workgroups }) },
  }));
}
