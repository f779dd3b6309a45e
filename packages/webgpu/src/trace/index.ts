import { describeValue, InvalidArgumentError } from '@tilewise/core';
import { GpuTrace } from './gpu-trace.ts';
import { type TraceEvent, traceEvents } from './trace-events.ts';

export type { TraceEvent } from './trace-events.ts';
export { formatTrace, type TraceRow, traceTable } from './trace-table.ts';
export type { GpuTrace };

/**
 * Creates a trace. Pass it to `createContext({ trace })`, which then times each kernel, and to
 * `compile(engine, fn, specs, { trace })`, which then names the partitions that kernels belong to. The device
 * must have the feature `timestamp-query`; a device that the context creates has this feature if the adapter
 * supports it. While they are traced, kernels run one at a time.
 */
export function createTrace(): GpuTrace {
  return new GpuTrace();
}

/** A file that, written as JSON, opens in Chrome (`chrome://tracing`) and Perfetto (`ui.perfetto.dev`). */
export interface TraceFile {
  /** The timed kernels, partitions and passes, and the names of their rows. */
  readonly traceEvents: readonly TraceEvent[];
  /** The unit in which a viewer shows times. The events themselves are in microseconds. */
  readonly displayTimeUnit: 'ms';
}

/**
 * Takes the kernels that a trace has timed since the last call, as a file of trace events. Waits for the GPU.
 * Browsers round timestamps, by default to 100 µs, so short kernels may seem to take no time.
 * @throws InvalidArgumentError for another kind of trace.
 */
export async function takeTrace(trace: GpuTrace): Promise<TraceFile> {
  if (!(trace instanceof GpuTrace))
    throw new InvalidArgumentError('trace', `must be made by createTrace, got ${describeValue(trace)}`);
  return { traceEvents: traceEvents(await trace.take()), displayTimeUnit: 'ms' };
}
