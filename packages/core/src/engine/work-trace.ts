/**
 * Measures the work of an engine, part by part. `createTrace` of `@tilewise/webgpu/trace` makes a trace;
 * graphs tell the trace which of their partitions they run.
 */
export interface WorkTrace {
  /**
   * Names the work that is recorded until the function that it returns is called. A part within a part has
   * the names of both.
   */
  enter(part: string): () => void;
}
