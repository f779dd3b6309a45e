import type { ReactNode } from 'react';

/**
 * Content that may be wider or taller than its place. It takes the focus, so that the keyboard can scroll it.
 */
export function ScrollRegion(props: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const { label, className = '', children } = props;
  return (
    <section className={`scroll-x ${className}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
