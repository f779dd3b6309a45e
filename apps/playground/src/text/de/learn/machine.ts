import type { Text } from '../../text.ts';

export const machine: Text['machine'] = {
  intro:
    'Der Speicher ist groß und fern, die Register sind wenige und nah. Diese Maschine hat beides, und einen Multiplizierer, der seine zwei Operanden nur aus `R0` und `R1` liest. Jeder Befehl dauert einen Takt. Was hier schnell ist, ist auch auf einer GPU schnell: eine Zahl wiederverwenden, solange sie nah ist.',
  wiring: 'Der Multiplizierer liest',
  wirings: { fixed: 'R0 und R1', any: 'jedes Register' },
  registers: 'Register',
  noProgramForOne: 'Vier Operanden, zwei Produkte, ein Ergebnis: Kein Programm braucht weniger.',
  optimum: registers => `Kein Programm für diese Maschine mit ${registers} Registern braucht weniger.`,
  fewer: (registers, fewest) => `Mit ${registers} Registern geht es in ${fewest}.`,
  canItBeFewer: 'Geht es in weniger Takten?',
  fewest: [
    'Wie viele Takte alle vier Elemente mindestens brauchen, ist bekannt: Alle Programme wurden ausprobiert. Mehr Register halten mehr Teilsummen nah, sodass jede geladene Zahl mehr ihrer Partner trifft, bevor sie ersetzt wird.',
    'Wenn jedes Register den Multiplizierer speisen darf, können auch Operanden warten. Dann genügen sechs Register, um jede der acht Zahlen nur einmal zu laden: achtmal laden, acht Produkte, viermal speichern, und nichts davon lässt sich weglassen.',
  ],
  fewestCaption: 'Wenigste Takte für das ganze Produkt',
  styles: 'Inneres gegen äußeres Produkt',
  innerProduct: 'Inneres Produkt',
  outerProduct: 'Äußeres Produkt',
  cyclesInAll: 'Takte für ganz C',
  stylesWhy:
    'Das innere Produkt beendet eine Summe, bevor es die nächste beginnt. Das äußere hält alle Summen offen und lässt jede geladene Zahl ihre beiden Partner treffen. Dieselbe Wahl kehrt in Kapitel 4 wieder, mit Kacheln statt Zahlen.',
};
