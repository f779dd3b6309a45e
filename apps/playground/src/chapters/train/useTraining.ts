import { useEffect, useSyncExternalStore } from 'react';
import { createTraining, type Training, type TrainingView } from '../../logic/train/training-run.ts';

/** The page's training. It outlives the chapter, and this browser stores its run. */
const training = createTraining({ kept: true });

/** The page's training. Leaving the chapter pauses the training and does not change the model. */
export function useTraining(): TrainingView & Training {
  const view = useSyncExternalStore(training.subscribe, training.view);
  useEffect(() => () => training.pause(), []);
  return { ...training, ...view };
}
