// Prints the adapter that the WebGPU tests run on, or why there is none. Needs a build.
//   node .ci/show-adapter.mjs
const { openGpu } = await import('../tools/webgpu-host/dist/index.js');
try {
  const { adapter, description, kind, source } = await openGpu();
  const variants = ['shader-f16', 'subgroups', 'chromium-experimental-subgroup-matrix'];
  const offered = variants.filter(feature => adapter.features.has(feature));
  console.log(`Adapter: ${description} (${kind}): ${source}.`);
  console.log(`Optional features for kernels: ${offered.join(', ') || 'none'}.`);
} catch (error) {
  console.log(error.message);
}
