let shares: boolean | null = null;

/** Whether this host has shared WebAssembly memory, which stays in place when it grows; computed once. */
export function sharesMemory(): boolean {
  if (shares === null) {
    try {
      const { buffer } = new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true });
      shares = !(buffer instanceof ArrayBuffer);
    } catch {
      shares = false;
    }
  }
  return shares;
}
