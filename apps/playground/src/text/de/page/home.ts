import type { FirstText } from '../../text.ts';

export const home: FirstText['home'] = {
  heading: 'Flash-Attention, auseinandergenommen',
  blurb:
    'Attention vergleicht jedes Wort eines Textes mit jedem anderen: n Wörter, n² Scores. Flash-Attention berechnet alle diese Scores und speichert keinen einzigen. Wie das geht, findest du heraus, indem du es selbst programmierst: zuerst auf einer Spielzeugmaschine, am Ende auf deiner eigenen GPU.',
  doors: {
    learn: 'Lernen',
    learnWhy: 'Zehn Kapitel, von drei Registern bis zu einem Transformer, der auf dieser Seite trainiert.',
    use: 'Verwenden',
    useWhy: 'Attention für WebGPU, vorwärts und rückwärts, als kleine TypeScript-Bibliothek.',
  },
  race: {
    title: 'Speicherbedarf, live auf deinem Rechner',
    start: 'Noch einmal',
    naive: 'Scores gespeichert: n²',
    streaming: 'gestreamt: n',
    axisX: 'Wörter n',
    running: n => `Beide Verfahren rechnen mit ${n} Queries und Keys …`,
    result: (n, naive, streaming, times, difference) =>
      `Für n = ${n} hat diese Seite gerade ${naive} für Scores und Gewichte belegt, beim Streaming dagegen nur ${streaming}, um den Faktor ${times} weniger. Die Ergebnisse unterscheiden sich um höchstens ${difference}.`,
    label: points => `Speicherbedarf in Abhängigkeit von der Zahl der Wörter. ${points.join('; ')}`,
    point: (n, naive, streaming) => `${n}: ${naive} gespeichert, ${streaming} gestreamt`,
  },
  model: {
    title: 'Ein Modell lernt hinzuschauen',
    about:
      'Das Modell sieht Buchstaben mit Ziffern, dann einen der Buchstaben noch einmal, und muss dessen Ziffer finden. Anfangs rät es: 10\u00a0% richtig.',
    start: 'Lernen lassen',
    pause: 'Pause',
    resume: 'Weiter',
    step: 'Schritt',
    right: 'Richtig',
    loading: 'Wird vorbereitet …',
    more: 'Ein eigenes Modell trainieren',
    map: step =>
      `Wohin ein Kopf nach ${step} ${step === 1 ? 'Schritt' : 'Schritten'} schaut: eine Zeile pro Token`,
    curve: share => `Bisheriger Anteil richtiger Antworten; jetzt ${share}`,
  },
  learn: 'Lernen',
  use: 'Verwenden',
  useIntro:
    'Fünf Zeilen, auf einem eigenen GPU-Gerät, wenn du schon eines hast. Es gibt keinen Build-Schritt und keine Abhängigkeit außer den eigenen Paketen der Bibliothek. Die Dropout-Masken stimmen Bit für Bit mit denen von PyTorch überein.',
  install: 'Installieren',
  notOnNpm:
    'Die Pakete sind noch nicht auf npm. Wie du sie aus einem Klon installierst, steht in der Dokumentation.',
  code: 'Attention, vorwärts',
  docs: 'Dokumentation',
  repository: 'Quelltext',
  evaluate: 'Beurteilen',
  evaluateWhy:
    'Sieh dir an, was der Compiler in einem Graphen findet und ob die Kernel auf deinem Rechner richtig und schnell sind.',
};
