/**
 * How long after the page has loaded the rest is downloaded, in milliseconds, so that no first chapter has to
 * wait for that download.
 */
const delay = 4000;

/**
 * Makes the page work without a network: a service worker answers from its cache, and is asked to cache the
 * rest when the page has been open for a while. Visitors who save data are spared that download.
 */
export function keepForOffline(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const saves =
    'connection' in navigator && (navigator.connection as { saveData?: boolean }).saveData === true;
  window.addEventListener('load', () => {
    setTimeout(async () => {
      // If service workers are forbidden, the page works as before.
      const registration = await navigator.serviceWorker.register('./sw.js').catch(() => null);
      if (!registration || saves) return;
      const { active } = await navigator.serviceWorker.ready;
      active?.postMessage('keep');
    }, delay);
  });
}
