/**
 * Measures the work of an engine, part by part. `createTrace` of `@tilewise/webgpu/trace` creates a trace;
 * graphs report to it which of their partitions they run.
 */
export interface WorkTrace {
  /**
   * Names the work that is recorded until the returned function is called. A part within a part has the names
   * of both.
   */
  enter(part: string): () => void;
}
