"""Built-in words and prompts, for requests without a given text."""

from __future__ import annotations

from typing import Final

PROMPTS: Final = (
    "Explain in three sentences why the sky is blue at noon and red in the evening.",
    "Write a short letter in which a tenant asks the landlord to repair a dripping tap.",
    "A train leaves at 9:40 and arrives at 13:05 with a stop of 15 minutes. How long does it move?",
    "Give me a recipe for a soup of lentils and carrots for four people, with amounts.",
    "What is the difference between a list and a tuple in Python? Show a small example of each.",
    "Summarise what a good handover between two shifts in a hospital should contain.",
    "Translate into French: The parcel was left with the neighbour on the second floor.",
    "Name five things to check before buying a used bicycle, the most important one first.",
    "Write a function that tells whether a word reads the same backwards, and say how it works.",
    "My basil plant has yellow leaves. What are the likely causes, and what should I try first?",
    "Plan a day in a small harbour town for a family with two children and no car.",
    "Turn this into a polite refusal: We cannot come on Friday, ask us again next month.",
    "How does a bank decide what interest to ask for a loan? Explain it to a student of sixteen.",
    "Write a poem of eight lines about the first frost of the year, without the word cold.",
    "A shop sells pens at 3 for 2.40. What do 17 pens cost if single ones cost 0.95 each?",
    "List the steps to set up a backup of the photos on a laptop, for a person who never did.",
    "Which questions should one ask at the end of a job interview, and why those?",
    "Describe how a letter gets from a postbox to a house in another country, step by step.",
    "Compare heating a flat with gas and with a heat pump: cost, comfort and what can go wrong.",
    "Tell a short story about a lighthouse keeper who finds a clock that runs backwards.",
)
"""Everyday requests of one line, whose answers are a few sentences to a page long."""

_WORDS: Final = """
able about above accept account action active actual add address after again against age agent
air all allow almost alone along also always among amount and animal another answer any apple
area arm around art article ask author away back bad bag balance ball bank bar base basic beat
because bed before begin bell below bench best better between big bill bird birth bit block blue
board boat body bone book border born both bottom box bread break bridge bright bring build bus
business but buy call camera camp can capital car card care case castle cat catch cause cell
center central chain chair change charge check chief child choice circle city claim class clean
clear clock close cloud club code collect color come common company complete condition consider
content continue control cool copy correct cost count country course court cover create credit
crew cross cup current custom cut cycle dark data date daughter day deal deep degree depend
design detail device direct distance doctor dog door double down draw drive drop each early
earth edge education effect egg either else empty end energy engine enter equal escape even
event ever every example except exist express extra eye face fact factor fail fair fall family
far fast father feature female field figure file fill film final find fine fire first fish fit
five fix flag flat flight floor flow flower fly focus follow food foot for force foreign forest
form former forward found four frame free friend from front fruit full fun function fund future
game gas gate general get give glass global go goal gold good grand grass great green grey
ground group growth guard guide hair half hall hand hang hard hat have head health heart heat
height help here hero hide high hill history hold hole home horse hospital host hot hour house
how human ice image include index inner inside instead interest into iron issue item job join
just keep key kind king know lake land language large last late later law lay lead leader leaf
learn leave left leg legal length less letter level library life light like limit line link lip
list little live local lock long look loss lost lot love low machine magic main major make male
man many map mark market mass match material may meal mean media member memory menu message
method middle mile mind miss mission model modern money month more most mother motion mouse
mouth move movie much music must name nation native natural near need never new news next nice
night none nor normal note nothing notice now number object odd off offer office often old once
one only onto open option orange order other our out outside over own owner pace pack page pain
pair panel paper parent park part pass past path patient pattern pause pay pen people perhaps
period person phone photo phrase pick picture piece pipe place plain plan plane plant plate play
player please point pole policy pool popular port position post pot power present press pretty
price prime print private problem process product profit program project proof public pull pure
push put quality quarter question quick quiet radio rail rain raise range rank rate rather read
ready real reason record red region regular release remember remove repeat reply report request
require respect respond rest result return review rich ride right ring rise risk river road rock
role roll room root rose rough round route rule run safe same sample save say scale scene school
score screen sea search season seat second secret section secure see seed seek send series
service set shadow shake shape share sharp sheet shift shine ship shop short should show side
sign similar simple since sing single sit site six size skill skin sky sleep slice slow small so
social soft solid some song soon sort sound source south space special speed split spot spring
square staff stage stand standard star start state station step stick still stock stone stop
store story stream street string strong student stuff style subject success such sun support
surface switch system table tail take talk target task tax team ten term test text than that
their then there these thing think third this those though three through throw thus ticket tie
time tiny tip title today too tool top total touch town track trade train tree true try turn two
type under union unique unit until upon upper use usual value version very view visual voice
volume wait walk wall warn watch water wave way weak wealth wear weather week weight well west
what wheel when where which while who whose why wide will win wind window wing winner wire wise
with within without woman wood word work world worth would write wrong yard year yes yet you
zero zone
"""
WORDS: Final = tuple(_WORDS.split())
"""Common English words, each of them one token in the vocabularies of GPT-2, cl100k, o200k,
Tekken (Mistral) and the 32,000 SentencePiece pieces of Mistral 7B, at the beginning of a text and
after a space alike; none that a content filter would stop at."""
