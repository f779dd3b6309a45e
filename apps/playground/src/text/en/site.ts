export const site = {
  title: 'Tilewise: flash attention, taken apart',
  heading: 'Flash attention, taken apart',
  blurb:
    'Program a machine with three registers, and by small steps arrive at the kernels that run on your own GPU: forward, backward, dropout and all.',
  skip: 'Skip to the content',
  chapters: 'Chapters',
  chapter: (n: number): string => `Chapter ${n}`,
  next: 'Next',
  nextChapter: 'Next chapter',
  loading: (title: string): string => `Loading ${title}…`,
  language: 'Language',
  theme: { light: 'Use the light theme', dark: 'Use the dark theme' },
  boundary: {
    failed: 'This chapter could not be loaded. Is the network there?',
    broke: 'This chapter stopped with an error. What you wrote is kept.',
    again: 'Try again',
  },
};
