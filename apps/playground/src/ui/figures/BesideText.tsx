import type { ReactNode } from 'react';

/**
 * Text with its figure: side by side on wide screens, where the figure stays in place while the text scrolls.
 * On narrow screens the figure follows the text, and `after` follows the figure.
 */
export function BesideText(props: {
  readonly figure: ReactNode;
  readonly children: ReactNode;
  readonly after?: ReactNode;
}) {
  const { figure, children, after } = props;
  return (
    <div className="beside-text">
      <div className="stack">{children}</div>
      <div className="staying-figure">{figure}</div>
      {after && <div className="stack">{after}</div>}
    </div>
  );
}
