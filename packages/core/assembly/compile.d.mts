/** The texts of the generated source files of kernels, by name. */
export function compileKernels(): Promise<Readonly<Record<string, string>>>;
