import type { ReactNode } from 'react';

/**
 * Text with its figure: side by side on wide screens, where the figure stays while the text scrolls; one
 * below the other on narrow ones.
 */
export function BesideText({
  figure,
  children,
}: {
  readonly figure: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="beside-text">
      <div className="stack">{children}</div>
      <div className="staying-figure">{figure}</div>
    </div>
  );
}
