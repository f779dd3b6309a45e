import type { ReactNode } from 'react';

/** A part that is hidden until the visitor opens it. */
export function Reveal({ summary, children }: { readonly summary: string; readonly children: ReactNode }) {
  return (
    <details className="reveal">
      <summary>{summary}</summary>
      <div>{children}</div>
    </details>
  );
}
