import { type ReactNode, useRef } from 'react';
import { useOverflowCue } from './useOverflowCue.ts';

/**
 * Content that may be wider or taller than its container. It can take the focus, so that the keyboard can
 * scroll it.
 */
export function ScrollRegion(props: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const { label, className = '', children } = props;
  const host = useRef<HTMLElement>(null);
  useOverflowCue(host);
  return (
    <section ref={host} className={`scroll-x ${className}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
