import { openBrowser } from '../../tools/webgpu-host/dist/browser/index.js';
import {
  browserScripts,
  inIsolatedPage,
  inServiceWorker,
  inWorker,
  onMainThread,
} from './browser-scripts.mjs';

/** Runs the packages in the contexts of a cross-origin isolated page in Chromium. */
export function browserChecks({ folder }) {
  const once = async work => {
    const host = await openBrowser(await browserScripts(folder));
    try {
      const result = await host.page.evaluate(work);
      if (result.error) throw new Error(result.error);
      return `${host.browser.version()}: ${result.ok}`;
    } finally {
      await host.close();
    }
  };
  // On a loaded machine, the GPU process of a new browser may be too late for the first request.
  const inPage = async work => {
    try {
      return await once(work);
    } catch (error) {
      if (!error.message.includes('requestAdapter() gave null')) throw error;
      return await once(work);
    }
  };
  return [
    { where: 'Chromium, main thread', what: 'CPU', run: () => inPage(onMainThread('cpu')) },
    { where: 'Chromium, main thread', what: 'WebGPU', run: () => inPage(onMainThread('gpu')) },
    { where: 'Chromium, worker', what: 'CPU', run: () => inPage(inWorker('cpu')) },
    { where: 'Chromium, worker', what: 'WebGPU', run: () => inPage(inWorker('gpu')) },
    { where: 'Chromium, service worker', what: 'CPU', run: () => inPage(inServiceWorker('cpu')) },
    { where: 'Chromium, service worker', what: 'WebGPU', run: () => inPage(inServiceWorker('gpu')) },
    { where: 'Chromium, cross-origin isolated page', what: 'CPU', run: () => inPage(inIsolatedPage) },
  ];
}
