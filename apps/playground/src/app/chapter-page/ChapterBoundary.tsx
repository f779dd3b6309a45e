import { Component, type ReactNode } from 'react';

/** The files of a chapter could not be fetched. Any other error comes from the chapter itself. */
export class ChapterLoadError extends Error {}

interface Props {
  /** The messages for a chapter that could not be fetched and for one that stopped with an error. */
  readonly failed: string;
  readonly broke: string;
  readonly again: string;
  readonly children: ReactNode;
}

/**
 * Shows why a chapter cannot be loaded or has thrown, and a button to try again. React supports this only in
 * classes.
 */
export class ChapterBoundary extends Component<Props, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="panel" role="alert">
        <p>{error instanceof ChapterLoadError ? this.props.failed : this.props.broke}</p>
        <p className="note">{error instanceof Error ? error.message : String(error)}</p>
        <div className="toolbar">
          <button type="button" className="button" onClick={() => window.location.reload()}>
            {this.props.again}
          </button>
        </div>
      </div>
    );
  }
}
