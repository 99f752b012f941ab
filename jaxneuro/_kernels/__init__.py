"""The few operations that determine the speed: arrays in, arrays out."""

from ._bins import set_bins as set_bins
from ._configure import configure_cpu as configure_cpu
from ._deliver import deliver as deliver
from ._draw_rows import below as below
from ._draw_rows import count_draws as count_draws
from ._draw_rows import counter_words as counter_words
from ._draw_rows import distinct_rows as distinct_rows
from ._draw_rows import draw_pairs as draw_pairs
from ._draw_rows import stable_order as stable_order
from ._draw_rows import transpose as transpose
from ._draw_rows import uniform_rows as uniform_rows
from ._draw_values import draw_values as draw_values
from ._draw_values import place_rows as place_rows
from ._event_log import EventLog as EventLog
from ._event_log import empty_log as empty_log
from ._event_log import flush_limit as flush_limit
from ._event_log import log_events as log_events
from ._exchange import Line as Line
from ._exchange import exchange as exchange
from ._exchange import line_of as line_of
from ._gap_lists import gap_lists as gap_lists
from ._gap_lists import gap_width as gap_width
from ._gap_rows import gap_counts as gap_counts
from ._gap_rows import gap_rows as gap_rows
from ._gather import gather as gather
from ._gather_table import LANES as LANES
from ._gather_table import RUN as RUN
from ._gather_table import GatherTable as GatherTable
from ._gather_table import make_gather_table as make_gather_table
from ._gather_table import read_gather_table as read_gather_table
from ._k_cap import k_cap as k_cap
from ._k_cap import k_cap_wide as k_cap_wide
from ._learn import Moment as Moment
from ._learn import PlasticSynapses as PlasticSynapses
from ._learn import learn as learn
from ._materialize import materialize as materialize
from ._merge_bits import merge_bits as merge_bits
from ._native import native_available as native_available
from ._new_sources import NewNeurons as NewNeurons
from ._new_sources import new_past_inputs as new_past_inputs
from ._new_sources import write_new_sources as write_new_sources
from ._pack import pack as pack
from ._pack import packed_bytes as packed_bytes
from ._poisson import poisson as poisson
from ._poisson_reference import LARGEST_MEAN as LARGEST_MEAN
from ._redraw import DRAW_WORDS as DRAW_WORDS
from ._redraw import GAPS as GAPS
from ._redraw import UNIFORM as UNIFORM
from ._redraw import Draw as Draw
from ._redraw import gap_words as gap_words
from ._redraw import redraw as redraw
from ._released import Released as Released
from ._rescale import rescale as rescale
from ._rescale import target_sums as target_sums
from ._rule_programs import RulePrograms as RulePrograms
from ._rule_programs import check_rule as check_rule
from ._run_ahead import run_ahead as run_ahead
from ._short_term import short_term as short_term
from ._short_term_reference import ShortTerm as ShortTerm
from ._short_term_reference import at_spikes as at_spikes
from ._short_term_reference import relaxed as relaxed
from ._synaptic_input import Counts as Counts
from ._synaptic_input import Firing as Firing
from ._synaptic_input import Hashed as Hashed
from ._synaptic_input import Lists as Lists
from ._synaptic_input import Stored as Stored
from ._synaptic_input import potentiations as potentiations
from ._synaptic_input import synaptic_input as synaptic_input
from ._table import BLOCK_TARGETS as BLOCK_TARGETS
from ._table import HAS_DELAYS as HAS_DELAYS
from ._table import HAS_TAGS as HAS_TAGS
from ._table import HAS_WEIGHTS as HAS_WEIGHTS
from ._table import ONE_PLACE as ONE_PLACE
from ._table import REDRAWN as REDRAWN
from ._table import SECTION_WORDS as SECTION_WORDS
from ._table import Section as Section
from ._table import Table as Table
from ._table import ring_place as ring_place
from ._table import ring_slots as ring_slots
from ._threads import threads as threads
from ._unpack import unpack as unpack
from ._walk import UnwalkableError as UnwalkableError
from ._walk import walk_or_loop as walk_or_loop
from ._wide import UNIT_BITS as UNIT_BITS
from ._wide import wide_add as wide_add
from ._wide import wide_equal as wide_equal
from ._wide import wide_integers as wide_integers
from ._wide import wide_less as wide_less
from ._wide import wide_multiply as wide_multiply
from ._wide import wide_subtract as wide_subtract
from ._wide import wide_to_float as wide_to_float
from ._wide import wide_to_number as wide_to_number
from ._wide import wide_units as wide_units
from ._wide import wide_words as wide_words

__all__ = [
    "BLOCK_TARGETS",
    "DRAW_WORDS",
    "GAPS",
    "HAS_DELAYS",
    "HAS_TAGS",
    "HAS_WEIGHTS",
    "LANES",
    "LARGEST_MEAN",
    "ONE_PLACE",
    "REDRAWN",
    "RUN",
    "SECTION_WORDS",
    "UNIFORM",
    "UNIT_BITS",
    "Counts",
    "Draw",
    "EventLog",
    "Firing",
    "GatherTable",
    "Hashed",
    "Line",
    "Lists",
    "Moment",
    "NewNeurons",
    "PlasticSynapses",
    "Released",
    "RulePrograms",
    "Section",
    "ShortTerm",
    "Stored",
    "Table",
    "UnwalkableError",
    "at_spikes",
    "below",
    "check_rule",
    "configure_cpu",
    "count_draws",
    "counter_words",
    "deliver",
    "distinct_rows",
    "draw_pairs",
    "draw_values",
    "empty_log",
    "exchange",
    "flush_limit",
    "gap_counts",
    "gap_lists",
    "gap_rows",
    "gap_width",
    "gap_words",
    "gather",
    "k_cap",
    "k_cap_wide",
    "learn",
    "line_of",
    "log_events",
    "make_gather_table",
    "materialize",
    "merge_bits",
    "native_available",
    "new_past_inputs",
    "pack",
    "packed_bytes",
    "place_rows",
    "poisson",
    "potentiations",
    "read_gather_table",
    "redraw",
    "relaxed",
    "rescale",
    "ring_place",
    "ring_slots",
    "run_ahead",
    "set_bins",
    "short_term",
    "stable_order",
    "synaptic_input",
    "target_sums",
    "threads",
    "transpose",
    "uniform_rows",
    "unpack",
    "walk_or_loop",
    "wide_add",
    "wide_equal",
    "wide_integers",
    "wide_less",
    "wide_multiply",
    "wide_subtract",
    "wide_to_float",
    "wide_to_number",
    "wide_units",
    "wide_words",
    "write_new_sources",
]
