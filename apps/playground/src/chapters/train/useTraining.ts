import { useEffect, useSyncExternalStore } from 'react';
import { createTraining, type Training, type TrainingView } from '../../logic/train/training-run.ts';

/** The training of the page: it outlives the chapter, and this browser keeps its run. */
const training = createTraining({ kept: true });

/** The page's training. Leaving the chapter pauses it; the model stays as it is. */
export function useTraining(): TrainingView & Training {
  const view = useSyncExternalStore(training.subscribe, training.view);
  useEffect(() => () => training.pause(), []);
  return { ...training, ...view };
}
