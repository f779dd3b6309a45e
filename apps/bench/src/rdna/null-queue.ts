/**
 * The C source of a Vulkan driver that is Mesa's RADV except for queues and command buffers, which do
 * nothing: RADV creates devices without hardware (`RADV_FORCE_FAMILY`) and compiles for them, but fails at
 * the first command buffer. `NULL_QUEUE_DRIVER` names RADV's library.
 */
export const nullQueueSource = `#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
typedef void (*Function)(void);
typedef Function (*Lookup)(void *, const char *);
static void *driver;
static Lookup of_instance, of_device;

static int succeed(void) { return 0; }

static int is_idle(const char *name) {
  static const char *const idle[] = {
    "vkBeginCommandBuffer", "vkEndCommandBuffer", "vkResetCommandBuffer", "vkResetCommandPool",
    "vkQueueSubmit", "vkQueueSubmit2", "vkQueueWaitIdle", "vkDeviceWaitIdle",
    "vkGetFenceStatus", "vkWaitForFences", "vkResetFences",
  };
  for (size_t n = 0; n < sizeof idle / sizeof *idle; n++)
    if (strcmp(name, idle[n]) == 0) return 1;
  return strncmp(name, "vkCmd", 5) == 0;
}

static Function or_idle(Function found, const char *name) {
  return found && is_idle(name) ? (Function)succeed : found;
}

static Function device_function(void *device, const char *name) {
  return or_idle(of_device(device, name), name);
}

static void *in_driver(const char *name) {
  if (!driver) driver = dlopen(getenv("NULL_QUEUE_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return driver ? dlsym(driver, name) : NULL;
}

Function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
  of_instance = (Lookup)in_driver("vk_icdGetInstanceProcAddr");
  if (!of_instance) return NULL;
  Function found = of_instance(instance, name);
  if (found && strcmp(name, "vkGetDeviceProcAddr") == 0) {
    of_device = (Lookup)found;
    return (Function)device_function;
  }
  return or_idle(found, name);
}

Function vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
  Lookup lookup = (Lookup)in_driver("vk_icdGetPhysicalDeviceProcAddr");
  return lookup ? lookup(instance, name) : NULL;
}

int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) {
  int (*negotiate)(unsigned *) = (int (*)(unsigned *))in_driver("vk_icdNegotiateLoaderICDInterfaceVersion");
  return negotiate ? negotiate(version) : -3;
}
`;
