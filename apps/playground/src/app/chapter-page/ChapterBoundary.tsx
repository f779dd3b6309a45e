import { Component, type ReactNode } from 'react';

/** The files of a chapter could not be fetched; any other error is one of the chapter itself. */
export class ChapterLoadError extends Error {}

interface Props {
  /** The message for a chapter that could not be fetched, and for one that stopped with an error. */
  readonly failed: string;
  readonly broke: string;
  readonly again: string;
  readonly children: ReactNode;
}

/**
 * Shows the reason when a chapter cannot be loaded or throws, and a way to try again. React offers this to
 * classes only.
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
