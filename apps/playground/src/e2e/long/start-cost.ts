import type { Site } from '../site.ts';
import { referencePage } from './reference-page.ts';

/** The phone and its network. The phone needs `referenceMs` of its processor to start the reference page. */
const slowPhone = { latency: 150, bytesPerMs: 200, referenceMs: 440 } as const;

/** The cost of a start, which hardly depends on other work of this machine. */
export interface StartCost {
  /** Bytes sent for the start, headers included. */
  readonly bytes: number;
  /** The longest chain of requests that each had to wait for the one before. */
  readonly rounds: number;
  /** Processor time of the page's main thread, in ms. */
  readonly cpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread, in µs. */
  readonly tdur?: number;
}

/**
 * Sets the mark once the expression holds for what has been painted. The browser requests fonts when it lays
 * out text, so the expression is evaluated again after that.
 */
const markReady = (ready: string): string => `{
  const watch = () => {
    if (!(${ready})) return;
    requestAnimationFrame(() => setTimeout(() => {
      if (!(${ready}) || performance.getEntriesByName('start-ready').length > 0) return;
      observer.disconnect();
      performance.mark('start-ready');
    }));
  };
  const observer = new MutationObserver(watch);
  observer.observe(document, { subtree: true, childList: true });
  document.fonts.addEventListener('loadingdone', watch);
}`;

/** Processor time of the page's main thread between the navigation and the mark, in ms. */
function mainThreadTime(trace: Buffer): number {
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(trace.toString());
  const end = traceEvents.find(({ name }) => name === 'start-ready');
  if (!end) throw new Error('The trace has no mark of the start.');
  const here = traceEvents.filter(({ pid, ts }) => pid === end.pid && ts <= end.ts);
  const begin = here.filter(({ name }) => name === 'navigationStart').at(-1)?.ts ?? 0;
  const tasks = here.filter(
    ({ name, ph, tid, ts }) =>
      name === 'ThreadControllerImpl::RunTask' && ph === 'X' && tid === end.tid && ts >= begin,
  );
  if (tasks.length === 0) throw new Error('The trace has no tasks.');
  return tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1000;
}

/**
 * An upper bound on the time of a start on a slow phone, in ms: the sum of the latency of all rounds, the
 * transfer time of all bytes, and the processor time, which overlap in part on the phone. The phone is as
 * much slower than this machine as it is for the reference page, which takes `referenceMs` here.
 */
export function phoneTime({ bytes, rounds, cpuMs }: StartCost, referenceMs: number): number {
  const { latency, bytesPerMs, referenceMs: phoneMs } = slowPhone;
  return rounds * latency + bytes / bytesPerMs + (cpuMs * phoneMs) / referenceMs;
}

type Page = Site['page'];

/** Opens an empty page in its own browser context, as large as that of a phone. */
async function onPhone<T>(site: Site, visit: (page: Page) => Promise<T>): Promise<T> {
  const context = await site.browser.newContext({
    locale: 'en',
    serviceWorkers: 'block',
    viewport: { width: 390, height: 844 },
  });
  try {
    return await visit(await context.newPage());
  } finally {
    await context.close();
  }
}

const startTracing = (site: Site, page: Page): Promise<void> =>
  site.browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });

const waitForMark = (page: Page): Promise<unknown> =>
  page.waitForFunction("performance.getEntriesByName('start-ready').length > 0");

/** Processor time that the reference page takes on this machine, in ms. */
export function referenceTime(site: Site): Promise<number> {
  return onPhone(site, async page => {
    await page.route('**/reference.html', route =>
      route.fulfill({ contentType: 'text/html', body: referencePage }),
    );
    await startTracing(site, page);
    await page.goto(`${site.address}reference.html`);
    await waitForMark(page);
    return mainThreadTime(await site.browser.stopTracing());
  });
}

/**
 * Starts the page at a place in its own browser context, with an empty cache and without network delays,
 * until the expression `ready` holds in it. Other work on this machine does not change the bytes or the
 * rounds, and hardly changes the processor time, which is counted per thread. Addresses that match `later`
 * are loaded after the start and do not count.
 */
export function startCost(
  site: Site,
  { place, ready, later }: { readonly place: string; readonly ready: string; readonly later: RegExp },
): Promise<StartCost> {
  return onPhone(site, async page => {
    await page.addInitScript(markReady(ready));
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const depths = new Map<string, number>();
    const addresses = new Map<string, string>();
    const ended: { readonly url: string; readonly bytes: number }[] = [];
    network.on('Network.requestWillBeSent', ({ requestId, request, initiator }) => {
      const askedBy = [initiator.url, ...(initiator.stack?.callFrames ?? []).map(({ url }) => url)];
      const depth = 1 + Math.max(0, ...askedBy.map(url => depths.get(url ?? '') ?? 0));
      // An address that is requested twice is loaded once.
      if (!depths.has(request.url)) depths.set(request.url, depth);
      addresses.set(requestId, request.url);
    });
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = addresses.get(requestId) ?? '';
      if (url.startsWith('http')) ended.push({ url, bytes: encodedDataLength });
    });
    await startTracing(site, page);
    await page.goto(`${site.address}${place}`);
    await waitForMark(page);
    const before = (await page.evaluate(`performance.getEntriesByType('resource')
      .filter(one => one.responseEnd <= performance.getEntriesByName('start-ready')[0].startTime)
      .map(one => one.name)`)) as string[];
    const [document = ''] = page.url().split('#');
    const loaded = [document, ...before.filter(url => !later.test(url))];
    const cpuMs = mainThreadTime(await site.browser.stopTracing());
    // Messages about requests may come after the page's answer.
    const known = (url: string): boolean => ended.some(one => one.url === url);
    while (!loaded.every(known)) await page.waitForTimeout(10);
    const needed = ended.filter(({ url }) => loaded.includes(url));
    const bytes = needed.reduce((sum, one) => sum + one.bytes, 0);
    const rounds = Math.max(...needed.map(({ url }) => depths.get(url) ?? 1));
    return { bytes, rounds, cpuMs };
  });
}
