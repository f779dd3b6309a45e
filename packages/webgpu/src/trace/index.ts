import { GpuTrace } from './gpu-trace.ts';
import { type TraceEvent, traceEvents } from './trace-events.ts';

export type { TraceEvent } from './trace-events.ts';
export { formatTrace, type TraceRow, traceTable } from './trace-table.ts';
export type { GpuTrace };

/**
 * A trace for `createContext({ trace })`, which times each kernel, and for `compile(engine, fn, specs, {
 * trace })`, which names the partitions that kernels belong to. The device must have the feature
 * `timestamp-query`; a device that the context makes has the feature where the adapter offers it. Kernels run
 * one by one while they are traced.
 */
export function createTrace(): GpuTrace {
  return new GpuTrace();
}

/** A file that Chrome (`chrome://tracing`) and Perfetto (`ui.perfetto.dev`) open, when written as JSON. */
export interface TraceFile {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: 'ms';
}

/**
 * The kernels that a trace has timed since the last call, as a file of trace events. Waits for the GPU.
 * Browsers round timestamps, to 100 µs by default, so that short kernels seem to take no time.
 */
export async function takeTrace(trace: GpuTrace): Promise<TraceFile> {
  return { traceEvents: traceEvents(await trace.take()), displayTimeUnit: 'ms' };
}
