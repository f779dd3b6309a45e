/** The text of the generated source file. */
export function compileKernels(): Promise<string>;
