import type { ReactNode } from 'react';

/** A part that is shown only to those who ask for it. */
export function Reveal({ summary, children }: { readonly summary: string; readonly children: ReactNode }) {
  return (
    <details className="reveal">
      <summary>{summary}</summary>
      <div>{children}</div>
    </details>
  );
}
