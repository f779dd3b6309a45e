/** How far down the visitor was when leaving an entry of the history, by the entry's key. */
const places = new Map<string, number>();

/** Whether the visitor came to the current entry by Back or Forward. */
let cameBack = false;

/**
 * Records how far down the visitor is whenever the page goes to another entry of the history. Browsers
 * without the Navigation API record nothing.
 */
export function recordPlaces(): void {
  if (!('navigation' in window)) return;
  const { navigation } = window;
  navigation.addEventListener('navigate', ({ navigationType }) => {
    if (navigation.currentEntry) places.set(navigation.currentEntry.key, window.scrollY);
    cameBack = navigationType === 'traverse';
  });
}

/**
 * How far down the visitor was in the entry to which Back or Forward has led; null after other navigation.
 */
export function leftPlace(): number | null {
  if (!cameBack || !window.navigation.currentEntry) return null;
  return places.get(window.navigation.currentEntry.key) ?? null;
}
