const key = 'tilewise.training-text';

/** The text that the visitor last wrote to train on; empty if there is none or storage is forbidden. */
export function keptText(): string {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

/**
 * Stores the visitor's text for other chapters and the next visit; a text that is too large lasts for this
 * visit.
 */
export function keepText(text: string): void {
  try {
    // If the new text is too large, the old one must not come back.
    localStorage.removeItem(key);
    localStorage.setItem(key, text);
  } catch {
    // Storage is full or forbidden; the field shows the text all the same.
  }
}
