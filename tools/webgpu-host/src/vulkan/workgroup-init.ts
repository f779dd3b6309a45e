/**
 * Dawn must zero workgroup memory, as WebGPU demands. If it leaves this to the Vulkan extension, SwiftShader
 * writes one instruction per word, and a kernel with 16 KiB takes seconds to compile; without this toggle
 * Dawn writes a loop itself. The results are the same, so the toggle is off wherever this package chooses a
 * software driver.
 */
export const workgroupInitToggle = 'use_vulkan_zero_initialize_workgroup_memory_extension';
